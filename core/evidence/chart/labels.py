"""What the labels, headings and paths of a chart mean: sections, kinds and attributes."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources

from core.evidence.chart.records import EntryKind, Status, Subject

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z]+")
LEXICON = tomllib.loads(
    resources.files("core.evidence.chart").joinpath("lexicons/labels.toml").read_text("utf-8")
)
_ATTRIBUTES = {name: frozenset(words.split()) for name, words in LEXICON["attributes"].items()}
_ORDER = ("status", "end", "start", "frequency", "subject", "dose", "note", "name", "kind")
_KINDS = {EntryKind(name): frozenset(words.split()) for name, words in LEXICON["kinds"].items()}
_NOUNS = frozenset(LEXICON["sections"]["nouns"].split())
_BESIDE = _NOUNS | frozenset(LEXICON["sections"]["beside"].split())
_SHORT: dict[str, str] = LEXICON["short"]
_ASIDE = re.compile(r"\s*\([^()]*\)")
_NO_SECTION = frozenset("diagnosis note notes history list summary text".split())
_MOST_HEADING_WORDS = 7

_MEASURED = {name: words.split() for name, words in LEXICON["measured"].items()}


@lru_cache(maxsize=1024)
def measured_as(name: str) -> tuple[str, ...]:
    """The forms under which records give a measurement, its own name first."""
    return (name, *_MEASURED.get(name, _MEASURED.get(name.casefold(), ())))


@lru_cache(maxsize=4096)
def words_of(label: str) -> tuple[str, ...]:
    """The words of a label: ``dosageInstruction.doseAndRate`` is dosage, instruction, dose, and, rate."""
    return tuple(word.casefold() for word in _CAMEL.split(label) if word)


@lru_cache(maxsize=4096)
def attribute_of(label: str) -> str:
    """Which attribute of an entry a label names: name, dose, status, start …; "other" when none.

    The last part of a path decides; a part such as ``value`` or ``text`` leaves it to the one before.
    """
    parts = [part for part in label.split(".") if part]
    for at, part in enumerate(reversed(parts)):
        words = words_of(part)
        if at and "by" in words:
            break  # conditionsByStatus holds conditions
        if words and words[-1] in ("value", "unit", "text", "display", "coding") and len(parts) > 1:
            continue
        for attribute in _ORDER:
            if any(word in _ATTRIBUTES[attribute] for word in words):
                return attribute
    last = words_of(parts[-1])[-1:] if parts else ()
    return "name" if last in (("text",), ("display",)) else "other"


@lru_cache(maxsize=4096)
def is_section(label: str) -> bool:
    """Whether a label heads a part of a record ("Past medical history", "Allergies", "PMH")."""
    label = _ASIDE.sub("", label)
    if label.strip() in _SHORT:
        return True
    last = label.split(".")[-1].replace("_", " ").strip()
    if "." not in label and last.casefold() in _NO_SECTION and last.islower():
        return False
    if last.casefold() in (
        "diagnosis", "medication", "allergy", "note", "condition", "medicine", "treatment", "other",
        "text", "template", "set", "up", "family", "instructions", "data", "macro",
    ) and not label.strip().isupper():  # fmt: skip
        return "." not in label and last.casefold() in ("other", "instructions", "data", "family")
    # A resource's name ("AllergyIntolerance") is no heading: its words are not written apart.
    words = tuple(word for word in re.split(r"[^A-Za-z]+", last.casefold()) if word)
    if re.search(r"\d", last) or not words or len(words) > _MOST_HEADING_WORDS:
        return False
    return _NOUNS.intersection(words) != frozenset() and _BESIDE.issuperset(words)


@lru_cache(maxsize=4096)
def section_of(label: str) -> str:
    """A label as a section's name: words in lower case."""
    label = _ASIDE.sub("", label)
    return _SHORT.get(label.strip()) or " ".join(words_of(label))


@lru_cache(maxsize=4096)
def is_short(label: str) -> bool:
    """Whether a label is one of the abbreviations that stand without a colon too ("FHx nil")."""
    return label in _SHORT and len(label) > 1 and label[1:] != "ll"


@lru_cache(maxsize=4096)
def kind_of(words: str) -> EntryKind | None:
    """Which kind of entry a heading, a path or a resource's name stands for; None when unknown."""
    held = set(words_of(words))
    for kind, names in _KINDS.items():
        if held & names:
            return kind
    return None


_SECTION_STATUS: tuple[tuple[str, Status], ...] = (
    (r"\b(?:template|example|sample|order set|smartphrase|boilerplate|macros?|standard (?:text|wording))\b",
     Status.HYPOTHETICAL),
    (r"\b(?:not (?:currently )?taking|withdrawn|no longer taking)\b", Status.PAST),
    (r"\b(?:ruled out|excluded|refuted|negatives?|denies|denied|says no to|not present)\b", Status.ABSENT),
    (r"\b(?:entered in error|errors?|erroneous|voided|mistakes?)\b", Status.ERROR),
    (r"\b(?:cancelled|canceled)\b", Status.CANCELLED),
    (r"\b(?:on hold|held)\b", Status.ON_HOLD),
    (r"\b(?:differential|ddx|suspected|provisional|possible|query|to rule out|unconfirmed|maybe)\b",
     Status.UNCERTAIN),
    (r"\b(?:stopped|discontinued|resolved|inactive|previous|former|ended|past medications?|past meds|"
     r"(?:medications?|meds) past|historic|historical|ex)\b",
     Status.PAST),
    (r"\b(?:planned|proposed|pending)\b", Status.PLANNED),
    (r"\b(?:past|history|pmh|pmhx)\b", Status.HISTORY),
    (r"\b(?:current|active|regular|ongoing|home)\b", Status.ACTIVE),
)  # fmt: skip
RELATIVES = frozenset(
    "family familymemberhistory fh fhx relatives relative mother father sister brother kin famhx "
    "son daughter aunt uncle dad mum sis grandmother grandfather twin niece nephew cousin".split()
)
_STRANGERS = frozenset(
    "household flatmate carer spouse husband wife contacts neighbour lodger housemate roommate tenant "
    "partner donor".split()
)


@lru_cache(maxsize=4096)
def section_status(section: str) -> Status:
    """What a heading says of everything under it; family and social history say nothing of status."""
    words = " ".join(words_of(section))
    if re.search(r"\b(?:family|fh|fhx|social|kin)\b", words):
        return Status.UNSTATED
    for pattern, status in _SECTION_STATUS:
        if re.search(pattern, words):
            return status
    return Status.UNSTATED


@lru_cache(maxsize=4096)
def section_subject(section: str) -> Subject:
    """Whom a heading is about."""
    words = set(words_of(section))
    if words & RELATIVES or words_of(section)[-2:] == ("fam", "hx"):
        return Subject.FAMILY
    strange = words & _STRANGERS or re.search(
        r"\b(?:other|another) p(?:erson|atient)", " ".join(words_of(section))
    )
    return Subject.OTHER if strange else Subject.PATIENT
