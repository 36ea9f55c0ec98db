"""Native traces (Appendix A), and answers with their outputs as the services take them: one record,
one trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.capture.carried import PlainRun
from core.capture.files import FileRecord, each
from core.capture.native_record import is_answer_record, native_of, read_trace
from core.capture.values import mapping
from core.errors import InputError
from core.records import JsonObject, Origin, Trace

NAME = "native"


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record is a native trace."""
    fields = mapping(value)
    if "full_tool_outputs" in fields:
        return 1.0
    if isinstance(fields.get("messages"), list):
        return 0.0  # a conversation, however it is named
    answered = "final_reply_to_user" in fields or "assistant_answer" in fields
    if "user_question" in fields or (answered and "question_id" in fields):
        return 0.6
    return 0.7 if is_answer_record(value) else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """One trace a record, or the reason why there is none."""

    def take(record: FileRecord) -> Iterator[Trace]:
        value, origin = record.value, Origin(format=NAME, file=file, line=record.line)
        native = native_of(value) if is_answer_record(value) else value
        yield read_trace(native, origin, record.notes)

    return each(records, file, take)


def write(run: PlainRun) -> JsonObject:
    """The native record of a trace, as it was read."""
    return run.native
