"""Whom a statement is about: the patient named last."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.attribution.families import LITERATURE
from core.decomposition.clauses import has_finite_verb, reads_as_sentence, verb_forms
from core.decomposition.heading_context import Lead
from core.decomposition.markdown import plain
from core.evidence.names import recorded_names
from core.evidence.values import names_in
from core.records import StatedAttribution, Trace

_PATIENT = re.compile(r"\b(?:the|this|your|our) patient(?:['’]s)?\b|\bpatient['’]s\b|\A\W*Patient:",
                      re.IGNORECASE)  # fmt: skip
_CHART_TITLE = re.compile(
    r"\b(?:(?:active|current|known|chronic|home|past)\s)?(?:medications?|conditions?|problems?|"
    r"allerg(?:y|ies)|diagnos[ie]s|vitals?|vital signs|labs?|lab results|laboratory|medical history|"
    r"demographics|immuni[sz]ations?|encounters?|problem list|observations?)\b",
    re.IGNORECASE,
)
_PERSON_BEHIND = re.compile(
    r"(?:['’]s (?:chart|record|medical|medication|medications|history|problem|lab|labs|blood|allerg)"
    r"|,? \(?(?:MRN|DOB|patient|ID\b|[a-z]+[-_]\d)|,? (?:a|an|is a|is an) \d{1,3}[- ]year[- ]old)"
)
_MR = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|[Pp]atient|[Pp]t)[.:]? \Z")
_RECORDS = ("patient_record", "lab", "imaging", "other")


@dataclass(slots=True)
class Referents:
    """Who was met on the way down an answer; ``people`` are its patients, longest first.

    ``someone`` says that the answer or the question speaks of "the patient" without a name.
    """

    people: tuple[str, ...]
    someone: bool
    person: str | None = None

    @classmethod
    def of(cls, trace: Trace, answer: str, families: Mapping[str, str]) -> Referents:
        """Those of an answer, before its first line: the patient that the question names."""
        people = _people(trace, answer, families)
        asked = next((name for name in people if name in trace.question), None)
        someone = _PATIENT.search(trace.question) or _PATIENT.search(answer)
        return cls(
            people=people,
            someone=someone is not None,
            person=asked,
        )

    def meet(self, text: str) -> None:
        """Remembers the person that a text names last, for the pronouns behind it."""
        at = -1
        for name in self.people:
            place = text.rfind(name)
            if place > at:
                at, self.person = place, self._full(name)

    def _full(self, name: str) -> str:
        """The one longer name that ends in this one: "Jacob Larson" for "Larson"."""
        longer = [each for each in self.people if each.endswith(f" {name}")]
        return longer[0] if len(longer) == 1 else name

    def met_in(self, text: str) -> bool:
        """Whether a text names a patient."""
        return any(name in text for name in self.people)

    def resolved(self, text: str) -> str:
        """The text with the agent for "I", and the patient named whom an opening "he" or "she" means."""
        text = _by_the_agent(text)
        opening = re.match(r"(?:(?:and|but|also|however,|additionally,)\s+)?(he|she|his|her)\b",
                           text, re.IGNORECASE)  # fmt: skip
        name = self.person or ("The patient" if self.someone else None)
        if opening is None or name is None:
            return text
        if opening.group(1).lower() in ("his", "her"):
            name += _possessive(name)
        return name + text[opening.end() :]

    def about_patient(self, text: str) -> bool:
        """Whether a heading or an intro line speaks of a patient or of parts of a chart."""
        named = any(name in text for name in self.people)
        return named or _PATIENT.search(text) is not None or _CHART_TITLE.search(text) is not None

    def is_specific(
        self, text: str, context: Sequence[str], lead: Lead | None, stated: StatedAttribution | None
    ) -> bool:
        """Whether the claim is about one patient, so that the record is where it belongs (III.6)."""
        told = " ".join((*context, text))
        if self.met_in(told) or _PATIENT.search(told):
            return True
        if stated is not None and stated.family == LITERATURE:
            return False
        fragment = not reads_as_sentence(text)
        known = self.person is not None or self.someone
        return fragment and known and lead is not None and lead.about_patient

    def subject_of(self, text: str) -> str | None:
        """The patient that the text names first, else the one met last."""
        named = [(text.find(name), name) for name in self.people if name in text]
        return min(named)[1] if named else self.person


def _possessive(name: str) -> str:
    return "'" if name.endswith("s") else "'s"


_AGENT = ((r"i(?:[’']ve| have)", "has"), (r"i(?:[’']m| am)", "is"), (r"i", ""))
_AGENT_LEAD = r"(?P<lead>(?:however|unfortunately|also|so|then|and|but|yes|first|next),? )?"


def _by_the_agent(text: str) -> str:
    """ "I've saved the file" as "The agent has saved the file"."""
    for opening, verb in _AGENT:
        match = re.match(_AGENT_LEAD + opening + r" (?=[a-z])", text, re.IGNORECASE)
        if match is not None:
            rest = text[match.end() :]
            first = rest.split(maxsplit=1)[0]
            if not verb and first in verb_forms() and not has_finite_verb(first):
                rest = first + "s" + rest[len(first) :]
            return " ".join(["The agent", *([verb] if verb else []), rest])
    return text


def _people(trace: Trace, answer: str, families: Mapping[str, str]) -> tuple[str, ...]:
    """The patients that question, answer and records name, longest name first."""
    found: dict[str, None] = {}
    recorded: set[str] = set()
    for source in trace.sources:
        if families[source.source_id] in _RECORDS:
            recorded.update(name.casefold() for name in recorded_names(source.text))
    for text in (trace.question, answer[:200_000]):
        for name in names_in(text):
            before = text[max(0, name.span.start - 12) : name.span.start]
            behind = text[name.span.end : name.span.end + 30]
            known = plain(name.text).casefold() in recorded
            cued = _MR.search(before) is not None or _PERSON_BEHIND.match(behind) is not None
            if known or cued or re.search(r"[Pp]atient (?:is|was|named) \Z", before):
                found.setdefault(name.text)
    return tuple(sorted(found, key=lambda name: (-len(name), name)))[:50]
