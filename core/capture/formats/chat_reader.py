"""Transcripts: one record, one conversation, its messages of any dialect.

Read generously, because exports differ: the messages may be a list or JSON text under one of many
names, and the file may be one message a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from core.capture.answers import AnswersSeen
from core.capture.conversations import answers_in, messages_in
from core.capture.files import FileRecord
from core.capture.messages import is_message
from core.capture.refusing import traces_or_error
from core.config import Config
from core.errors import InputError
from core.records import Origin, Trace

NAME = "chat"


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are transcripts."""
    best = 0.0
    for value in values:
        messages = messages_in(value)
        if messages is None:
            if is_message(value):
                best = max(best, 0.5)  # one message a line
        elif any(map(is_message, messages)):
            foreign = any(map(_has_foreign_blocks, messages))
            best = max(best, 0.5 if foreign else 0.8)
    return best


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """The traces of each transcript; a file of single messages is one transcript."""
    loose: list[FileRecord] = []
    read_all = partial(answers_in, seen=AnswersSeen())
    for record in records:
        if isinstance(record, InputError):
            yield record
        elif is_message(record.value) and messages_in(record.value) is None:
            loose.append(record)
        else:
            origin = Origin(format=NAME, file=file, line=record.line)
            yield from traces_or_error(read_all, record.value, origin, record.notes)
    if loose:
        notes = tuple(dict.fromkeys(note for record in loose for note in record.notes))
        origin = Origin(format=NAME, file=file, line=loose[0].line)
        values = [record.value for record in loose]
        yield from traces_or_error(read_all, values, origin, notes)


def _has_foreign_blocks(message: object) -> bool:
    """Whether a message holds the typed blocks of another provider's format."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and str(block.get("type")).endswith(("tool_use", "tool_result"))
        for block in content
    )
