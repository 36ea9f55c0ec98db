"""What may be asked, and the trace in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.capture.files import FileRecord, parse_record
from core.capture.native_record import native_of, read_trace
from core.capture.reading import read_records_of
from core.errors import BadRecord, InputError, first_problem
from core.records import JsonObject, Origin, Trace

if TYPE_CHECKING:  # a server tells its tools before it loads what judges
    from core.workflows.batching import Allowed

ORIGIN = "service"
A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may cost, how many may wait, and how many verdicts are kept to be explained."""

    most_bytes: int = 8 * 1024 * 1024
    seconds: float = 60.0
    most_waiting: int = 64
    verdicts_kept: int = 256
    verdict_bytes_kept: int = 64 * 1024 * 1024  # of the texts that they are about


class ToolOutput(BaseModel):
    """One raw output that the agent was given."""

    model_config = ConfigDict(extra="forbid")

    tool_name: Annotated[str, Field(min_length=1, description="The tool that gave it.")]
    text: Annotated[
        str | dict[str, Any] | list[Any], Field(description="The output as it came: text or JSON.")
    ]
    source_id: Annotated[str | None, Field(description="Else call_id, else the tool's name.")] = (
        None
    )
    call_id: str | None = None
    server: str | None = None
    arguments: Annotated[
        str | dict[str, Any] | None, Field(description="What the call asked for.")
    ] = None
    status: Annotated[
        str | None,
        Field(
            pattern="^(ok|error|empty|truncated|not_captured|echo)$",
            description="Set it where the output cannot be evidence, or only a part of it is here.",
        ),
    ] = None


class Asked(BaseModel):
    """An answer with everything behind it: a captured ``trace``, or ``answer`` and ``tool_outputs``."""

    model_config = ConfigDict(extra="forbid")

    trace: Annotated[
        dict[str, Any] | list[Any] | str | None,
        Field(
            description="One captured run in any format that `verify` reads: a record, a list of "
            "its records (messages, spans), or the text of a JSON or JSON Lines file."
        ),
    ] = None
    format: Annotated[str, Field(description="The captured format; auto recognises it.")] = "auto"
    id: Annotated[
        str | None,
        Field(description="The run's own id, with answer: its claims are named after it."),
    ] = None
    question: str = ""
    answer: Annotated[str | None, Field(description="The agent's final answer.")] = None
    tool_outputs: Annotated[
        list[ToolOutput] | None, Field(description="Every raw tool output behind the answer.")
    ] = None

    @model_validator(mode="after")
    def _one_form(self) -> Asked:
        self._check_form()
        return self

    def _check_form(self) -> None:
        given = (self.answer, self.tool_outputs, self.id) != (None, None, None)
        if (self.trace is None) != given:
            raise ValueError("give either trace, or answer and tool_outputs")
        if given and (self.answer is None or self.tool_outputs is None):
            raise ValueError("answer and tool_outputs belong together")


class VerifyAsked(Asked):
    """An answer to verify."""

    repair: Annotated[
        bool, Field(description="Also propose edits of a blocked answer; a person decides them.")
    ] = False


class ExplainAsked(Asked):
    """One claim to explain: of a verdict given before (``verdict_id``), or of an answer."""

    verdict_id: Annotated[
        str | None, Field(description="From verify_answer; kept as long as there is room.")
    ] = None
    claim_id: Annotated[str, Field(min_length=1, description="As verify_answer names it.")]

    def _check_form(self) -> None:
        if self.verdict_id is None:
            super()._check_form()
        elif (self.trace, self.answer, self.tool_outputs) != (None, None, None):
            raise ValueError("give either verdict_id or the answer itself")


def asked(kind: type[A], value: object) -> A:
    """The request that a JSON value makes; raises BadRecord naming the JSON path of what is wrong."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        path, why = first_problem(error)
        raise BadRecord(why, path=path or None) from None


def traces_of(request: Asked, allowed: Allowed | None = None) -> list[Trace]:
    """The one run of a request: everything that it told the user, the answer last.

    Raises InputError with the JSON path of what cannot be read, and Overdue.
    """
    if request.trace is None:
        try:
            return [read_trace(_native(request), Origin(format=ORIGIN))]
        except BadRecord as error:
            raise BadRecord(error.message, path=error.path) from None
    try:
        found = []
        for item in _traces(request):
            found.append(item)
            if allowed:
                allowed.check()
    except InputError as error:
        raise _placed(error) from None
    for item in found:
        if isinstance(item, InputError):
            raise _placed(item)
    traces = [item for item in found if isinstance(item, Trace)]
    last = traces[-1].trace_id if traces else ""
    runs = sum(not one.trace_id.startswith(f"{last}::t") for one in traces)
    if runs != 1:
        raise BadRecord(f"expected one run, found {runs}", path="trace")
    return traces


def _traces(request: Asked) -> Iterator[Trace | InputError]:
    records = _records(request.trace)
    yield from read_records_of(records, request.format)


def _records(value: object) -> list[FileRecord]:
    if isinstance(value, str):
        return list(_records_of_text(value.encode("utf-8", "replace")))
    items = value if isinstance(value, list) else [value]
    return [FileRecord(item, number) for number, item in enumerate(items, start=1)]


def _records_of_text(text: bytes) -> Iterator[FileRecord]:
    """One JSON value, or one a line."""
    try:
        value, notes = parse_record(text)
    except BadRecord:
        lines = [(number, line) for number, line in enumerate(text.split(b"\n"), 1) if line.strip()]
        if len(lines) < 2:
            raise
        for number, line in lines:
            try:
                value, notes = parse_record(line)
            except BadRecord as error:
                raise BadRecord(error.message, line=number) from None
            yield FileRecord(value, number, notes)
        return
    for number, item in enumerate(value if isinstance(value, list) else [value], start=1):
        yield FileRecord(item, number, notes)


def _placed(error: InputError) -> InputError:
    """The error at its place in the request."""
    path = "trace" if error.line is None else f"trace[{error.line - 1}]"
    if error.path:
        path += f".{error.path}"
    return type(error)(error.message, path=path)


def _native(request: Asked) -> JsonObject:
    outputs = [output.model_dump(exclude_none=True) for output in request.tool_outputs or ()]
    named = {} if request.id is None else {"id": request.id}
    return native_of(
        {**named, "question": request.question, "answer": request.answer, "tool_outputs": outputs}
    )


def body_value(data: bytes) -> object:
    """The JSON value of a request's body, its numbers as they were written; raises BadRecord."""
    value, _ = parse_record(data)
    return value
