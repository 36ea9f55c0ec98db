"""Runs as turns and calls: what all formats share once their own field names are read."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.records import Citation, JsonObject, Origin

LEFT_OUT = "\n\n[…]\n\n"  # between the first question of a longer talk and its last


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something a participant said; ``calls_tools`` when the same turn also calls tools."""

    role: str  # user, assistant or system
    text: str
    calls_tools: bool = False
    citations: tuple[Citation, ...] = ()

    @property
    def is_answer(self) -> bool:
        """Whether the assistant says it without calling a tool."""
        return self.role == "assistant" and not self.calls_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A tool call that the agent made."""

    tool: str
    call_id: str | None
    arguments: str | None
    server: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A tool output that came back; ``output`` None when it was not captured."""

    call_id: str | None
    output: str | None
    tool: str | None = None
    failed: bool = False
    truncated: bool = False
    note: str | None = None


Turn = Said | Called | Returned


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedCall:
    """One tool call as logged; ``output`` is None when no output was captured for it.

    ``span_id`` and ``parent_id`` find another description of the same call in a log that tells of it
    more than once; ``wire``: it was seen on the wire (MCP), not by the agent.
    """

    tool: str
    output: str | None
    call_id: str | None = None
    server: str | None = None
    arguments: str | None = None
    failed: bool = False
    truncated: bool = False
    note: str | None = None
    extra: JsonObject = field(default_factory=dict)
    span_id: str = ""
    parent_id: str | None = None
    wire: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedRun:
    """One agent run as logged, before its outputs are made readable.

    ``earlier`` is what the assistant said in turns of its own before the answer, the oldest first.
    """

    origin: Origin
    question: str = ""
    answer: str | None = None
    calls: Sequence[CapturedCall] = ()
    earlier: Sequence[str] = ()
    trace_id: str | None = None
    category: str | None = None
    route: str | None = None
    elapsed_seconds: float | None = None
    citations: Sequence[Citation] = ()
    notices: Sequence[str] = ()
    extra: JsonObject = field(default_factory=dict)
    carried: object = None


def as_said(run: CapturedRun, turns: Sequence[Turn], response: str | None) -> CapturedRun:
    """The run with the answer that its turns tell and its evidence; a question or calls it has stay.

    The answer is ``response`` where it is given, else the last assistant text of a turn without
    tool calls, even if others speak after it; every tool output before it is evidence.
    """
    final = final_place(turns, response)
    answer, citations = response, tuple[Citation, ...]()
    for said in turns[final : final + 1]:
        if isinstance(said, Said):
            answer = said.text if response is None else response
            citations = said.citations if said.text == answer else ()
    before = turns[:final] if response is None else turns
    late = sum(isinstance(turn, Called) for turn in turns[len(before) :])
    told = [f"{late} tool calls after the answer are no evidence for it"] if late else []
    others = (turns[place] for place in other_answers(turns, final))
    return dataclasses.replace(
        run,
        question=run.question or question_in(before),
        answer=answer,
        earlier=tuple(turn.text for turn in others if isinstance(turn, Said)),
        calls=run.calls or pair_calls(before),
        citations=citations,
        notices=(*run.notices, *told),
    )


def final_place(turns: Sequence[Turn], response: str | None) -> int:
    """The place of the turn that says the answer; the number of turns when none of them does."""
    for index in reversed(range(len(turns))):
        turn = turns[index]
        if not isinstance(turn, Said) or turn.role != "assistant":
            continue
        if not turn.calls_tools if response is None else turn.text.strip() == response.strip():
            return index
    return len(turns)


def other_answers(turns: Sequence[Turn], final: int) -> list[int]:
    """The places of all else that the assistant said, beside and before its calls too: it was shown."""
    return [
        place
        for place, turn in enumerate(turns)
        if place != final and isinstance(turn, Said) and turn.role == "assistant"
    ]


def pair_calls(turns: Sequence[Turn]) -> tuple[CapturedCall, ...]:
    """Calls with their outputs, in the order of the calls; an output without a call stands alone.

    Ids may be reused in one transcript, so an output belongs to the earliest open call of its id.
    """
    calls: list[Called] = []
    outputs: list[Returned | None] = []
    open_calls: dict[str | None, deque[int]] = {}
    for turn in turns:
        if isinstance(turn, Called):
            open_calls.setdefault(turn.call_id, deque()).append(len(calls))
            calls.append(turn)
            outputs.append(None)
        elif isinstance(turn, Returned):
            place = _open_call(calls, open_calls, turn)
            if place is not None:
                outputs[place] = turn
                continue
            known = next((call for call in calls if call.call_id == turn.call_id), None)
            tool = turn.tool or (known.tool if known and turn.call_id else "unknown tool")
            calls.append(Called(tool=tool, call_id=turn.call_id, arguments=None))
            outputs.append(turn)
            open_calls.setdefault(turn.call_id, deque())
    missing = Returned(call_id=None, output=None)
    return tuple(
        CapturedCall(
            tool=call.tool,
            call_id=call.call_id or f"{index}",
            server=call.server,
            arguments=call.arguments,
            output=returned.output,
            failed=returned.failed,
            truncated=returned.truncated,
            note=returned.note,
        )
        for index, call in enumerate(calls, 1)
        for returned in (outputs[index - 1] or missing,)
    )


def _open_call(
    calls: Sequence[Called], open_calls: Mapping[str | None, deque[int]], turn: Returned
) -> int | None:
    """The call that an output answers, taken from those still open; None when there is none."""
    if turn.call_id and turn.call_id in open_calls:
        same = open_calls[turn.call_id]
        return same.popleft() if same else None
    if turn.call_id:  # the calls were logged without ids
        nameless = open_calls.get(None)
        return nameless.popleft() if nameless else None
    fitting = sorted(
        (place, holder)
        for holder, places in enumerate(open_calls.values())
        for place in places
        if turn.tool in (None, calls[place].tool)
    )
    if not fitting:
        return None
    place, holder = fitting[0]
    list(open_calls.values())[holder].remove(place)
    return place


def question_in(turns: Sequence[Turn]) -> str:
    """What was asked: the first user text and, in a longer talk, the last one before the answer."""
    said = [turn for turn in turns if isinstance(turn, Said) and turn.role == "user"]
    asked = [turn.text for turn in said if turn.text]
    if len(asked) > 1 and asked[-1] != asked[0]:
        return f"{asked[0]}{LEFT_OUT}{asked[-1]}"
    return asked[0] if asked else ""
