"""The provenance of one answer, laid out for its panel: risk, distortions, what was left out, chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import streamlit as st

from core.codec import canonical_json
from core.errors import ComponentUnavailable
from core.models.forest import Forest
from core.models.moved import Moved, moved_most
from core.provenance.markdown import OVERRIDDEN, report_markdown
from core.provenance.page import report_page
from core.provenance.records import ClaimPlace, ClaimProvenance, ProvenanceReport, RiskLevel
from core.provenance.risk import WEIGHTS
from core.records import Check, FactPlace, Judged, Outcome, Span, Trace, Verification
from core.workflows.printing import printed
from pages.widgets.figures import offer
from pages.widgets.offsets import Offsets
from pages.widgets.palette import DECISIONS
from pages.widgets.source_view import source_names

Json = Mapping[str, object]
FACTS_SHOWN = 8
TURN_SHOWN = 3_000  # characters of an earlier turn on each side of the place
AROUND = 70  # characters of context on each side of what differs

LEVEL_WORDS: Mapping[RiskLevel, tuple[str, str]] = {
    RiskLevel.LOW: ("▁", "low"),
    RiskLevel.MEDIUM: ("▃", "medium"),
    RiskLevel.HIGH: ("▅", "high"),
    RiskLevel.CRITICAL: ("█", "critical"),
}
BLOCKED = (DECISIONS["block"].mark, "blocked")
PART_WORDS: Mapping[str, tuple[str, str]] = {
    "attribution": ("Unlike its sources", "attribution: 1 − likeness to the evidence"),
    "fidelity": ("Told otherwise", "fidelity: distortions and values that stand nowhere"),
    "entailment": ("Not said by any source", "entailment: 1 − the best NLI score"),
    "specificity": (
        "Exact values made up",
        "specificity: the share of values that no output holds",
    ),
}


def moved_claims(verification: Verification, forest: Forest) -> dict[str, tuple[Moved, ...]]:
    """What moved each judged claim most; none where another calibrator decided them."""
    if verification.versions.calibrator != forest.name:
        return {}
    return {
        verdict.claim.claim_id: moved_most(forest, verdict.outcome.features)
        for verdict in verification.claims
        if isinstance(verdict.outcome, Judged)
    }


def lay_out_provenance(
    report: ProvenanceReport, trace: Trace, moved: Mapping[str, Sequence[Moved]]
) -> Json:
    """The panel's data; places are in the browser's count of characters."""
    names = source_names(trace.sources)
    offsets = {source.source_id: Offsets(source.text) for source in trace.sources}
    texts = {source.source_id: source.text for source in trace.sources}
    ordered = sorted(report.claims, key=lambda c: (c.level is not None, -c.risk.total))

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
        mark, word = LEVEL_WORDS[each.level] if each.level is not None else BLOCKED
        return {
            "id": each.claim_id,
            "risk": each.risk.total,
            "level": each.level.value if each.level is not None else "BLOCKED",
            "formula": LEVEL_WORDS[each.risk.level][1],
            "mark": mark,
            "word": word,
            "parts": _parts(each),
            "distortions": [_distortion(check, each, place) for check in each.distortions],
            "moved": [
                {"words": one.words, "for": one.by > 0.0} for one in moved.get(each.claim_id, ())
            ],
            "made_up": [value.text for value in each.fabrications],
            "chain": [
                {
                    "source": link.source_id,
                    "called": names.get(link.source_id, link.tool_name),
                    "call": link.call_id,
                    "arguments": link.arguments,
                    "facts": [found for fact in link.facts[:FACTS_SHOWN] if (found := place(fact))],
                }
                for link in each.chain
            ],
        }

    return {
        "held_back": [OVERRIDDEN[each] for each in report.overrides],
        "risk": report.risk,
        "riskiest": max(report.claims, key=lambda c: c.risk.total).claim_id
        if report.claims
        else None,
        "grounded": report.grounding_percentage,
        "note": "Decide by the verdict; the risk is for reading, and ranks claims no better.",
        "claims": [claim(each) for each in ordered],
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
                "severity": each.severity.value,
                "mark": LEVEL_WORDS[each.severity][0],
                "word": LEVEL_WORDS[each.severity][1],
                "category": each.category.replace("_", " "),
                "text": each.text,
                "place": place(each.place),
            }
            for each in report.omissions
        ],
        "omissions_found": report.omissions_found,
        "cited": [each.text for each in report.citations_made_up],
    }


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


def _parts(claim: ClaimProvenance) -> list[Json]:
    return [
        {"words": words, "term": term, "value": getattr(claim.risk, name), "weight": WEIGHTS[name]}
        for name, (words, term) in PART_WORDS.items()
    ]


def _distortion(check: Check, claim: ClaimProvenance, place: object) -> Json:
    assert callable(place)
    found: Iterator[Json] = (spot for fact in check.facts if (spot := place(fact)))
    return {
        "kind": check.check,
        "against": check.outcome is Outcome.CONTRADICTS,
        "reason": check.reason,
        "said": _in_context(check.claim_span, claim.text) if check.claim_span else None,
        "claim": claim.text,
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
