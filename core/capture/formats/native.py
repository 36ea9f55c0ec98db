"""Native traces (Appendix A), and answers with their outputs as the services take them: one record,
one trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import PlainRun
from core.capture.files import FileRecord, each
from core.capture.native_record import is_answer_record, native_of, read_trace
from core.errors import InputError
from core.records import JsonObject, Origin, Trace

NAME = "native"


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are native traces."""
    best = 0.0
    for value in values:
        if isinstance(value, Mapping):
            answered = "final_reply_to_user" in value or "assistant_answer" in value
            if "full_tool_outputs" in value:
                best = 1.0
            elif isinstance(value.get("messages"), list):
                continue  # a conversation, however it is named
            elif "user_question" in value or (answered and "question_id" in value):
                best = max(best, 0.6)
            elif is_answer_record(value):
                best = max(best, 0.7)
    return best


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
