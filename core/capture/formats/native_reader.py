"""Native traces (Appendix A), and answers with their outputs as the services take them: one record,
one trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.answer_record import is_answer_record, native_of
from core.capture.files import FileRecord
from core.capture.native_record import read_trace
from core.capture.refusing import trace_or_error
from core.config import Config
from core.errors import InputError
from core.records import Origin, Trace

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


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """One trace a record, or the reason why there is none."""
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        origin = Origin(format=NAME, file=file, line=record.line)
        yield trace_or_error(_read, record.value, origin, record.notes)


def _read(value: object, origin: Origin, notes: Sequence[str]) -> Trace:
    record = native_of(value) if isinstance(value, Mapping) and is_answer_record(value) else value
    return read_trace(record, origin, notes)
