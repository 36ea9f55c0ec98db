"""Where the claims of one answer come from, laid out for its panel, and what auditors ask beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from core.codec import canonical_json
from core.errors import ComponentUnavailable, ProvenanceGuardError
from core.models.moved import moved_most
from core.provenance.markdown import report_markdown
from core.provenance.page import report_page
from core.provenance.records import ClaimPlace, ClaimProvenance, ProvenanceReport, RiskLevel
from core.provenance.risk import WEIGHTS
from core.records import (
    Check,
    ClaimVerdict,
    FactPlace,
    Judged,
    Outcome,
    Span,
    Trace,
    VerdictLabel,
    Verification,
)
from core.text.tokens import content_terms
from core.workflows.models import ActiveCalibrator, active_forest
from core.workflows.printing import printed
from pages.widgets.claim_checks import told_facts
from pages.widgets.evidence_lines import claim_terms, lines_of, nearest_line
from pages.widgets.excerpts import SHOWN_WHOLE_CHARACTERS
from pages.widgets.figures import offer
from pages.widgets.offsets import Offsets
from pages.widgets.source_view import source_names

Json = Mapping[str, object]
TURN_SHOWN = 3_000  # characters of an earlier turn on each side of the place
FIELDS_QUOTED = 3
AROUND = 70  # characters of context on each side of what differs


def with_moved(data: Json, verification: Verification, calibrators: ActiveCalibrator) -> Json:
    """The view's data with what moved each judged claim most, in words.

    Without, where another calibrator decided, or the one in use cannot be read.
    """
    try:
        forest = active_forest(calibrators)
    except ProvenanceGuardError:
        return data
    claims = data["claims"]
    assert isinstance(claims, Sequence)
    if verification.versions.calibrator != forest.name:
        return data
    moved = {
        verdict.claim.claim_id: moved_most(forest, verdict.outcome.features)
        for verdict in verification.claims
        if isinstance(verdict.outcome, Judged)
    }
    told = {
        claim_id: [{"words": one.words, "for": one.by > 0.0} for one in found]
        for claim_id, found in moved.items()
    }
    return {**data, "claims": [{**claim, "moved": told.get(claim["id"], [])} for claim in claims]}


def lay_out_provenance(report: ProvenanceReport, verification: Verification, trace: Trace) -> Json:
    """The panel's data; places are in the browser's count of characters."""
    names = source_names(trace.sources)
    offsets = {source.source_id: Offsets(source.text) for source in trace.sources}
    texts = {source.source_id: source.text for source in trace.sources}
    verdicts = {verdict.claim.claim_id: verdict for verdict in verification.claims}

    def place(each: FactPlace) -> Json | None:
        counted = offsets.get(each.source_id)
        if counted is None:
            return None
        span = each.span
        return {
            "source": each.source_id,
            "called": names[each.source_id],
            "start": counted.of_point(span.start) if span else None,
            "end": counted.of_point(span.end) if span else None,
            **_in_context(span, texts[each.source_id]),
        }

    def claim(each: ClaimProvenance) -> Json:
        return {
            "id": each.claim_id,
            "risk": each.risk.total,
            "distortions": [
                _distortion(check, each, place)
                for check in each.distortions
                if check.outcome is Outcome.CONTRADICTS
            ],
            "made_up": [value.text for value in each.fabrications],
            "chain": [
                {
                    "source": link.source_id,
                    "called": names.get(link.source_id, link.tool_name),
                    "call": link.call_id,
                    "arguments": link.arguments,
                    "place": _quoted(verdicts[each.claim_id], link.source_id, texts, place),
                }
                for link in each.chain
            ],
        }

    return {
        "claims": [claim(each) for each in report.claims],
        "content_hash": report.content_hash,
        "weights": " + ".join(f"{weight:.2f} {part}" for part, weight in WEIGHTS.items()),
        "turns": report.turns,
        "contradictions": [
            {
                "kind": each.kind,
                "sides": [
                    _side(each.first, each.first_said, report, trace),
                    _side(each.second, each.second_said, report, trace),
                ],
            }
            for each in report.contradictions
        ],
        "omissions": [
            {
                "serious": each.severity in (RiskLevel.HIGH, RiskLevel.CRITICAL),
                "category": each.category.replace("_", " "),
                "text": each.text,
                "place": place(each.place),
            }
            for each in report.omissions
        ],
        "omissions_found": report.omissions_found,
        "cited": [each.text for each in report.citations_made_up],
    }


def _quoted(
    verdict: ClaimVerdict,
    source_id: str,
    texts: Mapping[str, str],
    place: Callable[[FactPlace], Json | None],
) -> Json | None:
    """What of a source is quoted for a claim: what contradicts it, else the line that tells most of it."""
    text, terms = texts[source_id], claim_terms(verdict.claim.text)

    def shared(fact: tuple[Span, str]) -> int:
        start, end = text.rfind("\n", 0, fact[0].start) + 1, text.find("\n", fact[0].end)
        return len(terms & content_terms(text[start : end if end >= 0 else len(text)]))

    facts = [(span, check.reason) for span, check in told_facts(verdict, source_id)]
    if verdict.verdict is not VerdictLabel.CONTRADICTED:
        # Of equal ones the last: a claim takes over what its sentence says before it.
        facts = sorted(facts, key=shared)[::-1]
        if not facts or not shared(facts[0]):
            near = nearest_line(text[:SHOWN_WHOLE_CHARACTERS], terms)
            facts = facts if near is None else [(near, "")]
    if not facts:
        return None
    span, reason = facts[0]
    quoted = place(FactPlace(source_id=source_id, span=span))
    if quoted is None or "\n" not in span.cut(text):
        return quoted
    # Of a whole record, the fields that speak of the claim.
    terms |= claim_terms(reason)
    fields = [line.cut(text) for line in lines_of(text, span)]
    telling = [field for field in fields if terms & content_terms(field)][:FIELDS_QUOTED]
    return {**quoted, "words": " … ".join(telling), "before": "", "after": ""}


def _side(place: ClaimPlace, said: str, report: ProvenanceReport, trace: Trace) -> Json:
    """One side of a contradiction; what an earlier turn said is shown whole, with the place in it."""
    before, words, after = place.text.partition(said) if said != place.text else ("", "", said)
    told = {"before": before, "words": words, "after": after}
    if place.turn + 1 == report.turns:
        return {"claim": place.claim_id, "turn": place.turn + 1, "said": told, "whole": None}
    text = trace.earlier[place.turn]
    start, end = max(0, place.span.start - TURN_SHOWN), place.span.end + TURN_SHOWN
    return {
        "claim": None,
        "turn": place.turn + 1,
        "said": told,
        "whole": {
            "before": ("… " if start else "") + text[start : place.span.start],
            "words": place.span.cut(text),
            "after": text[place.span.end : end] + (" …" if end < len(text) else ""),
        },
    }


def _in_context(span: Span | None, text: str) -> Json:
    """The words of a span, and what stands around them on their line."""
    if span is None:
        return {"before": "", "words": "", "after": ""}
    before = text[max(0, span.start - AROUND) : span.start].rpartition("\n")[2]
    after = text[span.end : span.end + AROUND].partition("\n")[0]
    return {
        "before": f"… {before.partition(' ')[2]}" if len(before) == AROUND else before,
        "words": span.cut(text)[:240],
        "after": f"{after.rpartition(' ')[0]} …" if len(after) == AROUND else after,
    }


def _distortion(
    check: Check, claim: ClaimProvenance, place: Callable[[FactPlace], Json | None]
) -> Json:
    found = (spot for fact in check.facts if (spot := place(fact)))
    return {
        "reason": check.reason,
        "said": _in_context(check.claim_span, claim.text) if check.claim_span else None,
        "place": next(found, None),
    }


@st.dialog("Provenance report of this answer")
def show_downloads(document: Mapping[str, object], trace_id: str) -> None:
    """Offer the report as Markdown, JSON and PDF; the PDF is printed when it is asked for."""
    trail = document["audit_trail"]
    assert isinstance(trail, Mapping)
    st.markdown(
        "The same verdict gives the same report. It names the state of the audit trail: "
        f"{trail['events']:,} events, {'intact' if trail['intact'] else 'NOT intact'}."
    )
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in trace_id)[
        :60
    ]
    row = st.container(horizontal=True)
    offer("Markdown", report_markdown(document), f"provenance-{name}.md", at=row, key="report-md")
    offer("JSON", canonical_json(document), f"provenance-{name}.json", at=row, key="report-json")
    if row.button("Print as PDF", icon=":material/print:", key="report-print"):
        try:
            with st.spinner("Printing …"):
                pdf = printed(report_page(document))
        except ComponentUnavailable as error:
            st.warning(str(error))
            return
        offer("PDF", pdf, f"provenance-{name}.pdf", key="report-pdf")
