"""What a sentence can be credited to: the sources of a trace, and the papers and patients inside them.

Names are the ones that people write. They are not chosen by what the verifier reads as a credit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from core.attribution.families import LITERATURE, OTHER, PATIENT_RECORD, Families
from core.evidence.calls import argument_leaves
from core.records import Source, Trace

NOUNS = {
    PATIENT_RECORD: ("the patient's chart", "the medical record", "the EHR"),
    LITERATURE: ("the published literature", "PubMed", "the journal article"),
    "lab": ("the lab report", "the laboratory results"),
    "imaging": ("the imaging report", "the radiology report"),
    "formulary": ("the drug label", "the package insert"),
    "guideline": ("the clinical guideline", "the practice guideline"),
    "registry": ("the trial registry", "ClinicalTrials.gov"),
    "web": ("the web page", "the web search"),
    "database": ("the database", "the query result"),
}
_PMID = re.compile(r"\bpmid\W{1,6}(\d{5,9})\b", re.IGNORECASE)
_TITLE = re.compile(r"\btitle\W{1,6}([^\n]{10,160}?)\.?\s*$", re.IGNORECASE | re.MULTILINE)
_PERSON = re.compile(
    r"^\W*(?:patient|name)\W{1,4}([^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+){1,3})", re.I | re.M
)
_FILE_KEYS = ("path", "file", "file_path", "filename", "fileAbsolutePath", "inputPath", "url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One place that a fact may be from.

    ``text`` is what stands there; ``part`` is the PMID of a paper inside the source, else None.
    ``person``, ``document`` and ``tool`` are names of the place where it has them.
    """

    source_id: str
    family: str
    text: str
    part: str | None = None
    title: str | None = None
    person: str | None = None
    document: str | None = None
    tool: str | None = None

    @property
    def own_name(self) -> str | None:
        """How its document or tool is named; None where nothing names it."""
        return self.document or (None if self.tool is None else f"the `{self.tool}` output")


def origins_of(trace: Trace, families: Families) -> tuple[Origin, ...]:
    """Every source of the trace that can be evidence, each followed by the papers inside it."""
    return tuple(
        origin
        for source in trace.sources
        if source.is_evidence
        for origin in _of_source(source, families.family_of(source))
    )


def _of_source(source: Source, family: str) -> Iterator[Origin]:
    yield Origin(
        source_id=source.source_id,
        family=family,
        text=source.text,
        person=_person(source.text) if family == PATIENT_RECORD else None,
        document=_document(source.arguments),
        tool=source.tool_name,
    )
    if family != LITERATURE:
        return
    starts = list(_PMID.finditer(source.text))
    for number, found in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(source.text)
        text = source.text[found.start() : end]
        title = _TITLE.search(text)
        yield Origin(
            source_id=source.source_id,
            family=family,
            text=text,
            part=found.group(1),
            title=title.group(1).strip() if title else None,
        )


def _person(text: str) -> str | None:
    found = _PERSON.search(text)
    if found is None:
        return None
    names = found.group(1).split()
    if names[0].isupper() and not names[-1].isupper():  # "WHITLOCK Jerome"
        names = [*names[1:], names[0].title()]
    return " ".join(names)


def _document(arguments: str | None) -> str | None:
    """The file or site that the call asked for, as people name it."""
    asked = dict(argument_leaves(arguments))
    for value in (asked.get(key, "") for key in _FILE_KEYS):
        if 2 < len(value) < 200 and not value.startswith("data:"):
            host = urlsplit(value).hostname if "://" in value else None
            return host or PurePosixPath(value).name or None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A right and a wrong name for the same fact; ``wrong`` is the place that is credited."""

    kind: str
    right_name: str
    wrong_name: str
    right: Origin
    wrong: Origin

    @property
    def direction(self) -> str:
        """From the family that holds the fact to the one that is credited."""
        return f"{self.right.family} → {self.wrong.family}"


def swaps(right: Origin, others: tuple[Origin, ...], families: Families) -> Iterator[Swap]:
    """Every way to credit a fact of ``right`` to another place, with a name of each alike."""
    for wrong in others:
        for kind, right_name, wrong_name in _names(right, wrong, families):
            if right_name.casefold() != wrong_name.casefold():
                yield Swap(
                    kind=kind,
                    right_name=right_name,
                    wrong_name=wrong_name,
                    right=right,
                    wrong=wrong,
                )


def _names(right: Origin, wrong: Origin, families: Families) -> Iterator[tuple[str, str, str]]:
    if right.part and wrong.part:
        if right.part != wrong.part:
            yield "other paper", f"PMID {right.part}", f"PMID {wrong.part}"
            if right.title and wrong.title:
                yield (
                    "other paper",
                    f"the paper “{right.title}”",
                    f"the paper “{wrong.title}”",
                )
        return
    if right.source_id == wrong.source_id or right.part or wrong.part:
        return
    if right.person and wrong.person:
        yield "other patient", f"{right.person}'s chart", f"{wrong.person}'s chart"
        return
    known = OTHER not in (right.family, wrong.family)
    if known and not families.compatible(right.family, wrong.family):
        for one, other in zip(
            NOUNS.get(right.family, ()), NOUNS.get(wrong.family, ()), strict=False
        ):
            yield "other family", one, other
    elif right.own_name and wrong.own_name:
        both = right.document and wrong.document
        yield ("other file" if both else "other tool"), right.own_name, wrong.own_name
