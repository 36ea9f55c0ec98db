"""What the labels, headings and paths of a chart mean: sections, kinds and attributes."""

from __future__ import annotations

import re
from functools import lru_cache

from core.evidence.chart.records import EntryKind, Status, Subject

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z]+")

_ATTRIBUTES: dict[str, frozenset[str]] = {
    attribute: frozenset(words.split())
    for attribute, words in {
        "name": "name code display drug medication medicine condition diagnosis problem substance "
        "allergen allergy allergyintolerance agent item description title generic brand product test "
        "vaccine medicationrequest medicationstatement medicationcodeableconcept "
        "medicationadministration procedure immunization observation disorder finding term text "
        "prescription treatment symptom",
        "dose": "dose dosage strength amount quantity sig directions instruction instructions regimen "
        "dosing posology",
        "frequency": "frequency schedule timing freq interval times",
        "start": "start started onset authored date ordered prescribed since began begin from "
        "effective recorded first initiated commenced diagnosed",
        "end": "end ended stop stopped abatement until resolved finish finished discontinued last to",
        "status": "status state active certainty verification intent standing current taking now "
        "assertion presence negated",
        "subject": "relation relationship relative who person member experiencer subject holder family",
        "kind": "type category kind resource section list class",
        "note": "note notes comment comments reason remark remarks annotation detail details history "
        "result value interpretation conclusion answer",
    }.items()
}
_ORDER = ("status", "end", "start", "frequency", "subject", "dose", "note", "name", "kind")

_KINDS: tuple[tuple[EntryKind, frozenset[str]], ...] = (
    (EntryKind.ALLERGY, frozenset("allergy allergies allergic intolerance intolerances "
                                  "allergyintolerance allergen adr sensitivities".split())),
    (EntryKind.MEDICATION, frozenset("medication medications med meds drug drugs medicine "
                                     "medicines prescription prescriptions prescribed rx "
                                     "medicationrequest medicationstatement "
                                     "medicationadministration medicationdispense order orders mar "
                                     "tablets pharmacy".split())),
    (EntryKind.IMMUNISATION, frozenset("immunization immunizations immunisation immunisations "
                                       "vaccine vaccines vaccination vaccinations".split())),
    (EntryKind.PROCEDURE, frozenset("procedure procedures surgery surgeries operation operations "
                                    "surgical".split())),
    (EntryKind.OBSERVATION, frozenset("observation observations lab labs laboratory vital vitals "
                                      "result results screening screenings measurement "
                                      "measurements investigations".split())),
    (EntryKind.CONDITION, frozenset("condition conditions problem problems diagnosis diagnoses "
                                    "disorder disorders pmh comorbidities comorbidity illnesses "
                                    "pmhx dx history symptoms symptom complaints finding "
                                    "findings".split())),
)  # fmt: skip
_SECTIONS = re.compile(
    r"(?:(?:current|active|past|previous|inactive|home|regular|discharge|admission|stopped|"
    r"discontinued|"
    r"resolved|known|ongoing|chronic|other|recent|discontinued|former|held|present|on admission|"
    r"repeat|acute|"
    r"drug|medical|surgical|social|family|mental|clinical|problem|medication|allergy|patient|"
    r"interval|final|"
    r"relevant|significant|major|differential|working|provisional|suspected|ruled out|excluded|"
    r"presenting|review of|of|and|&|/|,|the|on|at|to|for|in)\s+)*"
    r"(?:medications?|meds|drugs|medicines|prescriptions|rx|allerg(?:y|ies)|intolerances|adverse "
    r"reactions|"
    r"problems|problem list|conditions|diagnos[ei]s|pmh|pmhx|fh|fhx|history|hpi|comorbidities|vitals|"
    r"vital signs|labs|laboratory|results|investigations|immuni[sz]ations|vaccinations|procedures|"
    r"surgeries|systems|ros|examination|exam|assessment|impression|plan|list|orders|order set|"
    r"summary|template|example|complaints?|course|conditions? ruled out|differential|footnotes?|"
    r"references|notes?|instructions|follow[- ]?up|findings|symptoms|screening|relatives|family|"
    r"observations|encounters|template text|care plan|social)\s*(?:list|history|section)?",
    re.IGNORECASE,
)
_NO_SECTION = frozenset("diagnosis note notes history list summary".split())


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
    for part in reversed(parts):
        words = words_of(part)
        if words and words[-1] in ("value", "unit", "text", "display", "coding") and len(parts) > 1:
            continue
        for attribute in _ORDER:
            if any(word in _ATTRIBUTES[attribute] for word in words):
                return attribute
    return "other"


@lru_cache(maxsize=4096)
def is_section(label: str) -> bool:
    """Whether a label heads a part of a record ("Past medical history", "Allergies", "PMH")."""
    last = label.split(".")[-1].replace("_", " ").strip()
    if "." not in label and last.casefold() in _NO_SECTION and last.islower():
        return False
    if last.casefold() in ("diagnosis", "medication", "allergy", "note", "condition"):
        return False
    return _SECTIONS.fullmatch(last) is not None


@lru_cache(maxsize=4096)
def section_of(label: str) -> str:
    """A label as a section's name: words in lower case."""
    return " ".join(words_of(label))


@lru_cache(maxsize=4096)
def kind_of(words: str) -> EntryKind | None:
    """Which kind of entry a heading, a path or a resource's name stands for; None when unknown."""
    held = set(words_of(words))
    for kind, names in _KINDS:
        if held & names:
            return kind
    return None


_SECTION_STATUS: tuple[tuple[str, Status], ...] = (
    (r"\b(?:template|example|sample|order set|smartphrase|boilerplate)\b", Status.HYPOTHETICAL),
    (r"\b(?:ruled out|excluded|refuted|negatives?|denies|denied)\b", Status.ABSENT),
    (r"\b(?:entered in error|errors?|erroneous)\b", Status.ERROR),
    (r"\b(?:cancelled|canceled)\b", Status.CANCELLED),
    (r"\b(?:on hold|held)\b", Status.ON_HOLD),
    (r"\b(?:differential|suspected|provisional|possible|query|to rule out)\b", Status.UNCERTAIN),
    (r"\b(?:stopped|discontinued|resolved|inactive|previous|former|ended|past medications?|past meds)\b",
     Status.PAST),
    (r"\bplanned\b", Status.PLANNED),
    (r"\b(?:past|history|pmh|pmhx)\b", Status.HISTORY),
    (r"\b(?:current|active|regular|ongoing|home)\b", Status.ACTIVE),
)  # fmt: skip


@lru_cache(maxsize=4096)
def section_status(section: str) -> Status:
    """What a heading says of everything under it; family and social history say nothing of status."""
    words = " ".join(words_of(section))
    if re.search(r"\b(?:family|fh|fhx|social)\b", words):
        return Status.UNSTATED
    for pattern, status in _SECTION_STATUS:
        if re.search(pattern, words):
            return status
    return Status.UNSTATED


@lru_cache(maxsize=4096)
def section_subject(section: str) -> Subject:
    """Whom a heading is about."""
    words = set(words_of(section))
    if words & {
        "family",
        "familymemberhistory",
        "fh",
        "fhx",
        "relatives",
        "relative",
        "mother",
        "father",
    }:
        return Subject.FAMILY
    return Subject.PATIENT
