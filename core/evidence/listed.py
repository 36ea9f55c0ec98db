"""What a record lists under its labels: "Allergies: penicillin", a line below "Medications".

A record that was captured as one block holds several such parts, and what one of them denies says
nothing of another. What stands under no label is read sentence by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from core.evidence.chart.labels import is_section, kind_of, section_of, section_subject
from core.evidence.chart.records import EntryKind, Subject
from core.evidence.facts import Record


class Says(Enum):
    """What an entry says of what it is about; ``OPEN`` is both or neither, ``VOID`` is withdrawn."""

    STATED = auto()
    DENIED = auto()
    OPEN = auto()
    VOID = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that a record says; ``label`` is the heading or key over it, empty where none is."""

    record: Record
    label: str
    text: str

    @property
    def kind(self) -> EntryKind | None:
        """Which sort of entry its label heads."""
        return kind_of(section_of(self.label)) if self.label else None

    @property
    def subject(self) -> Subject:
        """Whom its label is about."""
        return section_subject(section_of(self.label))

    @property
    def shown(self) -> str:
        """The entry as a person reads it, in one line."""
        return " ".join(f"{self.label}: {self.text}".split() if self.label else self.text.split())

    @property
    def says(self) -> Says:
        """Whether it states something, denies it, withdraws it, or leaves it open."""
        if _VOID.search(self.text):
            return Says.VOID
        if not self.label:
            return Says.DENIED if _DENIES.search(self.text) else Says.STATED
        # The fields of a resource ("severity: none") do not deny what its first line names.
        first = self.text.partition("\n")[0]
        parts = [part for part in re.split(r"[;,]\s*", first) if re.search(r"\w", part)]
        denied = [_NONE.match(part) is not None for part in parts]
        if not parts or any(denied) != all(denied) or _OPEN.search(self.text):
            return Says.OPEN
        return Says.DENIED if all(denied) else Says.STATED


_NONE = re.compile(
    r"\W*(?:(?:the )?(?:patient|pt|he|she)\s+)?(?:has\s+)?(?:no|nil|none|not|never|NKD?F?A|neg(?:ative)?|"
    r"denie[sd]|without|absent|false|0)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:no|not|nil|none|never|neg(?:ative)?|denie[sd]|denying|without|absent|false|excluded|NKD?F?A)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_VOID = re.compile(r"\b(?:refuted|entered[- ]in[- ]error|ruled out|erroneous)\b", re.IGNORECASE)
# What leaves open whether an entry holds: nobody asked, it stands elsewhere, it holds no longer.
_OPEN = re.compile(
    r"\b(?:unknown|unable|unclear|see|pending|to be|unconfirmed|provisional|suspected|possibl[ey]|"
    r"query|inactive|resolved|stopped|discontinued|cancelled|n/a|"
    r"not (?:recorded|asked|assessed|documented))\b|\?",
    re.IGNORECASE,
)
_KEY = re.compile(r"\W{0,6}([A-Za-z][\w .\[\]/()-]{0,60}?)\W{0,4}[:：]\W{0,2}(?:\s+|$)")
_HEADING = re.compile(r"\W{0,6}([A-Za-z][A-Za-z /()-]{0,60}?)\W{0,4}")
_MARKER = re.compile(r"\A(?:[-*•]|\[?\d{1,3}[\].)])\s+")
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|;\s+(?=[A-Z][\w ]{0,40}:\s)")


def entries(records: Sequence[Record]) -> Iterator[Entry]:
    """What the records of a source say, in order; a heading that stands alone heads the next record."""
    reader = _Reader()
    for record in records:
        yield from reader.read(record)
    yield from reader.empty()


class _Reader:
    """Walks through records and keeps under which heading or resource it stands."""

    def __init__(self) -> None:
        self.heading = ""
        self.alone: Entry | None = None  # the heading's own, while nothing stands under it
        self.resource: Entry | None = None  # the one whose fields are being read

    def read(self, record: Record) -> Iterator[Entry]:
        """The entries of one record."""
        self.heading = self.heading if self.alone else ""
        for line in record.text.splitlines():
            for piece in _ENDS.split(line):
                if piece.strip():
                    yield from self.piece(record, piece.strip())
        yield from self.ended()

    def piece(self, record: Record, piece: str) -> Iterator[Entry]:
        key = _KEY.match(piece)
        label, said = (key.group(1), piece[key.end() :]) if key is not None else ("", piece)
        whole = _HEADING.fullmatch(piece) if key is None else None
        if (label and not said and _is_label(label)) or (whole and _heads(whole.group(1), piece)):
            yield from self.ended()
            yield from self.empty()
            self.heading = label or (whole.group(1) if whole else "")
            self.alone = Entry(record=record, label=self.heading, text="")
        elif label and _is_label(label):
            yield from self.ended()
            yield from self.empty()
            entry = Entry(record=record, label=label, text=said)
            self.heading = ""
            if is_section(label):
                yield entry
            else:
                self.resource = entry
        elif label and self.resource is not None:
            self.resource = replace(self.resource, text=f"{self.resource.text}\n{piece}")
        else:
            yield from self.ended()
            self.alone = None
            yield Entry(record=record, label=self.heading, text=_MARKER.sub("", piece))

    def ended(self) -> Iterator[Entry]:
        """The resource that was being read."""
        if self.resource is not None:
            yield self.resource
        self.resource = None

    def empty(self) -> Iterator[Entry]:
        """The heading that nothing stood under: what it heads was not found, not denied."""
        if self.alone is not None:
            yield self.alone
        self.alone = None


def _heads(label: str, line: str) -> bool:
    """Whether a line without a colon is a heading: "NKDA" and "No known allergies" are entries."""
    return is_section(label) and _NONE.match(label) is None and not line.endswith((".", ";", ","))


def _is_label(label: str) -> bool:
    return is_section(label) or kind_of(section_of(label)) is not None
