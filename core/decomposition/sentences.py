"""A sentence of an answer as statements, each with its place, its context and its credit (III.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.attribution.cues import Credit
from core.attribution.families import LITERATURE
from core.decomposition.answer_lines import (
    capitalised,
    finished,
    heads_a_list,
    label_and_value,
    labelled_cells,
    list_members,
    run_in_joined,
    run_in_label,
    standing_lines,
    tidy,
)
from core.decomposition.claim_type import (
    aside_of_sentence,
    claim_type_of,
    is_generic_title,
)
from core.decomposition.clauses import Part, reads_as_sentence
from core.decomposition.contexts import Surroundings, completed
from core.decomposition.coordination import split_statement
from core.decomposition.coreference import Referents
from core.decomposition.credits import Credits, credited_from, goes_on, without
from core.decomposition.cuts import scene_of, segments
from core.decomposition.heading_context import Lead, led
from core.decomposition.learned import Chooser
from core.decomposition.markdown import masked, plain
from core.records import ClaimType, Span, StatedAttribution, Trace
from core.text.sentences import sentence_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A stretch of the answer that says one thing; ``text`` is understood behind ``context``."""

    span: Span
    text: str
    context: tuple[str, ...]
    claim_type: ClaimType
    reason: str | None
    stated: StatedAttribution | None
    patient_specific: bool
    subject: str | None


def _names_another(own: StatedAttribution, place: Span) -> bool:
    """Whether a part may credit another source than its sentence does."""
    return (own.family is None and own.source_id is None) or not place.overlaps(own.span)


class Sentences:
    """Reads sentences into statements, remembering whom and what they are about."""

    def __init__(self, trace: Trace, answer: str, credits: Credits, learned: Chooser) -> None:
        self.answer, self.credits, self.learned = answer, credits, learned
        self.about = Referents.of(trace, answer, credits.source_families)
        self.found: list[Statement] = []
        self.around = Surroundings()

    def sentences(self, span: Span) -> Iterator[Span]:
        for piece in standing_lines(self.answer, span):
            text = piece.cut(self.answer)
            places = list(sentence_spans(text))
            for sentence in run_in_joined(text, places):
                yield Span(start=piece.start + sentence.start, end=piece.start + sentence.end)

    def sentence(
        self, span: Span, lead: Lead, before: StatedAttribution | None
    ) -> StatedAttribution | None:
        """Adds the sentence's claims; gives the credit that the next sentence may go on with."""
        for cell in labelled_cells(self.answer, span):
            stated = self._statement(cell, lead, before)
        return stated

    def _statement(
        self, span: Span, lead: Lead, before: StatedAttribution | None
    ) -> StatedAttribution | None:
        whole_span = span
        remark = _behind_remark(self.answer, span)
        span = remark if remark is not None else span
        label, value = run_in_label(self.answer, span)
        if value is not None:
            span = value
            lead = lead if is_generic_title(label) else replace(lead, text=label, joins=False)
        raw = span.cut(self.answer)
        hidden = masked(raw)
        aside = aside_of_sentence(plain(raw))
        if aside is not None:
            self.add(span, plain(raw), kind=aside[0], reason=aside[1], lead=lead)
            return None
        credit = self.credits.found(hidden)
        own = self.credits.stated(credit, span.start)
        if own is None and (named := self.credits.bylines.byline(hidden)) is not None:
            credit = Credit(span=named, families=(LITERATURE,), removable=None)
            own = self.credits.stated(credit, span.start)
        stated = own
        if own is None and before is not None and goes_on(plain(raw)):
            stated = before
        body = span
        if credit is not None and credit.removable is not None:
            body = without(span, raw, credit.removable)
        label, value = label_and_value(self.answer, body)
        text = plain(body.cut(self.answer))
        if not any(character.isalnum() for character in text):
            return stated
        if label and value is not None:
            listed = list_members(self.answer, value)
            if len(listed) > 1 and (heads_a_list(label) or self._lists(body, listed, lead)):
                for item in listed:
                    said = f"{label}: {plain(item.cut(self.answer))}"
                    self.add(item, said, stated=stated or lead.stated, lead=lead)
                return stated
        if label and value is not None and is_generic_title(label):
            body, text, label = value, plain(value.cut(self.answer)), ""
        whole = reads_as_sentence(plain(value.cut(self.answer)) if label and value else text)
        hidden_body = masked(body.cut(self.answer))
        parts = [
            piece
            for part in split_statement(hidden_body)
            for piece in self._cut_further(hidden_body, part, body.start, lead)
        ]
        places = [
            Span(start=body.start + part.span.start, end=body.start + part.span.end)
            for part in parts
        ]
        credited_at = credited_from(self.answer, places, own)
        kind: ClaimType | None = None
        reason: str | None = None
        for part, place in zip(parts, places, strict=True):
            said = self._told(body, part.pieces)
            if not any(character.isalnum() for character in said):
                continue
            # A list that opens a sentence makes statements of its items: "The plan is: stop X".
            judged = led(lead, said) if lead.joins and not whole else said
            given = stated if place.start >= credited_at else None
            if len(parts) > 1 and own is not None and _names_another(own, place):
                # "the chart lists X, and the trial found Y"
                given = self.credits.of(place) or given
            if part.follows is None or kind is not ClaimType.FACTUAL:
                # What was cut off a fact is one, whatever it sounds like by itself.
                kind, reason = claim_type_of(judged, credited=given is not None)
            self.about.meet(said)
            if kind is ClaimType.FACTUAL:
                said = self.about.resolved(said)
                if part.follows is not None:
                    said = completed(
                        said, self._told(body, part.follows.pieces), self._told(body, part.whole)
                    )
                alone = whole if len(parts) == 1 else reads_as_sentence(said)
                said = capitalised(said if alone else led(lead, said))
            begun = plain(self.answer[whole_span.start : place.start]).strip(" ,;:")
            self.add(
                place,
                said,
                kind=kind,
                reason=reason,
                stated=given or lead.stated,
                lead=lead,
                begun=begun,
            )
        self.around.said.append(plain(whole_span.cut(self.answer)))
        if self.around.said[-1].endswith((":", "：")):
            self.around.intro = self.around.said[-1]
        # Only a credit that opens its sentence may go on: "…, per the chart" is for what it ends.
        opens = own is None or not raw[: own.span.start - span.start].strip(" *_\"'")
        return stated if opens else None

    def _lists(self, body: Span, listed: Sequence[Span], lead: Lead) -> bool:
        """Whether the fitted model cuts most members of a list off each other."""
        text = masked(body.cut(self.answer))
        scene = scene_of(text, led=bool(lead.text), joins=lead.joins)
        whole = Span(start=0, end=len(text))
        starts = {item.start - body.start for item in listed[1:]}
        cuts = self.learned.cuts(text, whole, scene, body.start)
        found = sum(any(abs(cut.right - start) <= 2 for cut in cuts) for start in starts)
        return len(listed) > 2 and 2 * found >= len(starts)

    def _told(self, body: Span, pieces: Sequence[Span]) -> str:
        """The text of a part's pieces."""
        said = (plain(piece.cut(body.cut(self.answer))) for piece in pieces)
        return finished(re.sub(r"\s+(?=[,;])", "", " ".join(said)))

    def _cut_further(self, text: str, part: Part, at: int, lead: Lead) -> list[Part]:
        """The facts that the fitted model finds in a part."""
        own = part.pieces[-1]
        if own.end != part.span.end or own.start < part.span.start:
            return [part]
        body = own.cut(text)
        scene = scene_of(body, led=bool(lead.text), joins=lead.joins, carried=len(part.pieces) > 1)
        cuts = self.learned.cuts(text, own, scene, at)
        if not cuts:
            return [part]
        first, *others = found = segments(text, own, cuts)
        said = ["".join(stretch.cut(text) for stretch in one.stretches) for one in found]
        if any(each.count("(") != each.count(")") for each in said):
            return [part]  # a bracket that is torn apart leaves two halves that say nothing
        carried = part.pieces[:-1]
        kept = Part(span=first.span, pieces=(*carried, *first.stretches))
        return [
            kept,
            *(
                Part(
                    span=one.span,
                    pieces=one.stretches,
                    follows=kept,
                    whole=(*carried, Span(start=own.start, end=one.span.end)),
                )
                for one in others
            ),
        ]

    def add(  # noqa: PLR0913 - what a statement is made of
        self,
        span: Span,
        text: str,
        *,
        kind: ClaimType | None = None,
        reason: str | None = None,
        stated: StatedAttribution | None = None,
        lead: Lead | None = None,
        begun: str = "",
    ) -> None:
        span = tidy(self.answer, span)
        if span.start >= span.end:
            return
        if kind is None:
            kind, reason = claim_type_of(text, credited=stated is not None)
        cited = self.credits.cited(span)
        context = self.around.context(text, lead.text if lead else "", begun)
        specific = kind is ClaimType.FACTUAL and self.about.is_specific(
            text, context, lead, cited or stated
        )
        subject = self.about.subject_of(text) if specific else None
        self.found.append(
            Statement(
                span=span,
                text=text,
                context=context,
                claim_type=kind,
                reason=reason,
                stated=cited or stated,
                patient_specific=specific,
                subject=subject,
            )
        )


def _behind_remark(answer: str, span: Span) -> Span | None:
    """What stands behind "Here is what I found: " on the same line."""
    text = masked(span.cut(answer))
    colon = re.search(r":\s+(?=\S)", text)
    if colon is None:
        return None
    before = text[: colon.start()]
    aside = aside_of_sentence(before) or claim_type_of(before, credited=False)
    if aside[0] is not ClaimType.META:
        return None
    return tidy(answer, Span(start=span.start + colon.end(), end=span.end))
