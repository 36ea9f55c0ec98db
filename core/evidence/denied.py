"""What a claim denies: the words of "no known drug allergies", the sort of entry that its head names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.evidence.chart.labels import RELATIVES, kind_of
from core.evidence.chart.names import drug_spans, is_disorder_name, words_in
from core.evidence.chart.records import EntryKind, Subject
from core.evidence.words import STOP, stem, stems

_PARTS = re.compile(r"\s*(?:,|/|\bor\b|\band\b|\bnor\b)\s*", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
# What qualifies something that is denied without saying what it is.
_QUALIFIES = frozenset(
    "known documented recorded reported listed noted stated charted confirmed relevant significant "
    "clinically important notable major serious apparent obvious active current currently ongoing "
    "existing present past prior previous previously any other further additional new formal specific "
    "particular personal own single such".split()
)
_HOLDER = re.compile(r"\b(?:history|record|records|mention|documentation|entry|entries) of\b", re.I)
_BEHIND = re.compile(r"\s(?:of|to|with|about|regarding|against)\s", re.IGNORECASE)
# A result's words stand in every answer of a search: they head no list of a chart.
_SORTS = frozenset(EntryKind) - {EntryKind.OBSERVATION, EntryKind.OTHER}
_ADJECTIVE = re.compile(r"(?:ic|ac|al|ous|ary|ive|ent|ant)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """One thing that is denied; ``narrowing`` are its words beside the head, qualifiers left out."""

    words: tuple[str, ...]
    head: str
    narrowing: tuple[str, ...]
    kind: EntryKind | None
    subject: Subject

    @property
    def named(self) -> bool:
        """Whether what narrows it names one thing, which its entry would name too.

        A class does not: an entry of penicillin need not say "drug", nor one of sumatriptan "migraine".
        """
        if any(re.search(r"[^\W\d_][A-Z]|\d", word) for word in self.narrowing):
            return True
        text = " ".join(self.narrowing)
        if self.kind is EntryKind.CONDITION:
            folded = [word.text for word in words_in(text)]
            return is_disorder_name(folded) and not any(map(_ADJECTIVE.search, self.narrowing))
        return bool(drug_spans(text))


def denied_in(phrase: str, people: frozenset[str]) -> tuple[Denied, ...]:
    """The things that a phrase behind "no" names, in order; people's names are left out."""
    found = []
    for part in _PARTS.split(_HOLDER.sub(" ", phrase)):
        front, *behind = _BEHIND.split(part, maxsplit=1)
        said = [_kept(text, people) for text in (front, *behind)]
        words = [word for each in said for word in each]
        kept = [word for word in words if word.lower() not in _QUALIFIES] or words
        heads = [word for word in said[0] if word in kept] or kept
        if kept:
            found.append(_denied(kept, heads[-1]))
    return tuple(found)


def _kept(text: str, people: frozenset[str]) -> list[str]:
    words = [word for word in _TOKEN.findall(text) if word.lower() not in STOP]
    return [word for word in words if stems(word) - people or not word[0].isupper()]


def _denied(words: list[str], head: str) -> Denied:
    at = len(words) - 1 - words[::-1].index(head)
    kind = kind_of(head)
    narrowing = words[:at] + words[at + 1 :]
    family = any(word.lower() in RELATIVES for word in narrowing)
    return Denied(
        words=tuple(words),
        head=head,
        narrowing=tuple(word for word in narrowing if word.lower() not in RELATIVES),
        kind=kind if kind in _SORTS else None,
        subject=Subject.FAMILY if family else Subject.PATIENT,
    )


def holds(held: frozenset[str], word: str) -> bool:
    """Whether stems hold a word, as it is said or by all that it stands for ("BP")."""
    every = stems(word)
    own = {stem(part) for part in re.findall(r"[^\W_]+", word)} & every
    longer = every - own
    return own <= held or bool(longer) and longer <= held
