"""A provenance report as JSON by a published schema and as Markdown under Article 12's headings.

The headings follow what Article 12 of the EU AI Act asks a log to make possible: to identify
situations of risk, to follow the system in use, and to say which data an output was checked against.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

from core.codec import canonical_json
from core.provenance.records import (
    ChainLink,
    ClaimProvenance,
    Contradiction,
    Fabrication,
    Omission,
    ProvenanceReport,
    RiskLevel,
)
from core.provenance.risk import GROUNDED_FROM, MEASURED, PARAMETRIC_BELOW, WEIGHTS
from core.records import Check, FactPlace, Span

SCHEMA_VERSION = "1"
_MOST_SHOWN = 160  # characters of a text in a table


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailLink:
    """Where the audit trail stood when a report was made: its id, length and last event's hash."""

    trail_id: str
    events: int
    head: str
    intact: bool


def schema() -> dict[str, object]:
    """The published JSON Schema of a report document."""
    text = files("core.provenance").joinpath("schemas", "provenance_report.json").read_text("utf-8")
    found: dict[str, object] = json.loads(text)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The first and the last day of the verdicts that a report is on, in UTC; None: no bound."""

    since: date | None
    until: date | None


def report_document(
    reports: Sequence[ProvenanceReport],
    trail: TrailLink | None = None,
    period: Period | None = None,
) -> dict[str, object]:
    """One answer or many as JSON; the same reports give the same bytes, and ``sha256`` is of them."""
    answers = [answer_document(each) for each in reports]
    body: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "period": None
        if period is None
        else {
            "since": period.since.isoformat() if period.since else None,
            "until": period.until.isoformat() if period.until else None,
        },
        "method": {
            "risk_weights": dict(WEIGHTS),
            "grounded_from": GROUNDED_FROM,
            "parametric_below": PARAMETRIC_BELOW,
            "measured": dict(MEASURED),
        },
        "summary": _summary(reports),
        "answers": answers,
        "audit_trail": None
        if trail is None
        else {
            "trail_id": trail.trail_id,
            "events": trail.events,
            "head": trail.head,
            "intact": trail.intact,
        },
    }
    digest = hashlib.sha256(canonical_json(body).encode("utf-8")).hexdigest()
    return body | {"sha256": f"sha256:{digest}"}


def _summary(reports: Sequence[ProvenanceReport]) -> dict[str, object]:
    claims = [claim for report in reports for claim in report.claims]
    levels = {level.value: sum(c.risk.level is level for c in claims) for level in RiskLevel}
    tiers: dict[str, int] = {}
    for report in reports:
        name = report.tier.value if report.tier is not None else "none"
        tiers[name] = tiers.get(name, 0) + 1
    kinds: dict[str, int] = {}
    for check in (check for claim in claims for check in claim.distortions):
        kinds[check.check] = kinds.get(check.check, 0) + 1
    return {
        "answers": len(reports),
        "claims": len(claims),
        "risk_levels": levels,
        "tiers": dict(sorted(tiers.items())),
        "distortions": dict(sorted(kinds.items())),
        "contradictions": sum(len(report.contradictions) for report in reports),
        "omissions_listed": sum(len(report.omissions) for report in reports),
    }


def answer_document(report: ProvenanceReport) -> dict[str, object]:
    """One answer's report under the field names of seed 004."""
    return {
        "trace_id": report.trace_id,
        "content_hash": report.content_hash,
        "task": report.task,
        "decision": report.decision,
        "grounding_percentage": report.grounding_percentage,
        "hallucination_count": report.hallucination_count,
        "risk": report.risk,
        "mean_risk": report.mean_risk,
        "level": report.level.value if report.level else None,
        "tier": report.tier.value if report.tier else None,
        "claims": [_claim(claim) for claim in report.claims],
        "set_aside": dict(report.set_aside),
        "fabricated_citations": [_fabrication(each) for each in report.citations_made_up],
        "contradictions": [_contradiction(each) for each in report.contradictions],
        "omitted_facts": [_omission(each) for each in report.omissions],
        "omissions_found": report.omissions_found,
        "versions": {
            "pipeline": report.versions.pipeline,
            "config_sha256": report.versions.config_sha256,
            "embedder": report.versions.embedder,
            "pair_reader": report.versions.pair_reader,
            "precision": report.versions.precision,
            "calibrator": report.versions.calibrator,
        },
    }


def _claim(claim: ClaimProvenance) -> dict[str, object]:
    return {
        "claim_id": claim.claim_id,
        "text": claim.text,
        "span": _span(claim.span),
        "claim_type": claim.claim_type,
        "attribution": claim.grounding.value,
        "attribution_score": claim.grounding_score,
        "relation": claim.relation,
        "support_probability": claim.support,
        "decision": claim.decision,
        "distortions": [_distortion(check) for check in claim.distortions],
        "fabrications": [_fabrication(each) for each in claim.fabrications],
        "risk": {
            "total": claim.risk.total,
            "level": claim.risk.level.value,
            "attribution": claim.risk.attribution,
            "fidelity": claim.risk.fidelity,
            "entailment": claim.risk.entailment,
            "specificity": claim.risk.specificity,
        },
        "chain": [_link(link) for link in claim.chain],
    }


def _distortion(check: Check) -> dict[str, object]:
    return {
        "kind": check.check,
        "outcome": check.outcome.value,
        "reason": check.reason,
        "claim_span": _span(check.claim_span),
        "facts": [_place(place) for place in check.facts],
    }


def _fabrication(each: Fabrication) -> dict[str, object]:
    return {"text": each.text, "kind": each.kind, "span": _span(each.span)}


def _contradiction(each: Contradiction) -> dict[str, object]:
    return {
        "kind": each.kind,
        "first": {
            "turn": each.first.turn,
            "claim_id": each.first.claim_id,
            "text": each.first.text,
        },
        "second": {
            "turn": each.second.turn,
            "claim_id": each.second.claim_id,
            "text": each.second.text,
        },
        "first_said": each.first_said,
        "second_said": each.second_said,
    }


def _omission(each: Omission) -> dict[str, object]:
    return {
        "severity": each.severity.value,
        "category": each.category,
        "name": each.name,
        "text": each.text,
        "place": _place(each.place),
        "score": each.score,
    }


def _link(link: ChainLink) -> dict[str, object]:
    return {
        "source_id": link.source_id,
        "tool_name": link.tool_name,
        "call_id": link.call_id,
        "arguments": link.arguments,
        "facts": [_place(place) for place in link.facts],
    }


def _place(place: FactPlace) -> dict[str, object]:
    return {"source_id": place.source_id, "span": _span(place.span), "path": place.path}


def _span(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


# ---------------------------------------------------------------- for people


def report_markdown(document: Mapping[str, object]) -> str:
    """A report document as Markdown under Article 12's headings."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, object]) -> Iterator[str]:
    answers = document["answers"]
    assert isinstance(answers, list)
    summary = document["summary"]
    assert isinstance(summary, dict)
    yield "# Provenance report"
    yield ""
    yield "Record-keeping under Article 12 of Regulation (EU) 2024/1689."
    yield ""
    yield "## 1. Period and use of the system (Art. 12(1), 12(3)(a))"
    yield ""
    period = document["period"]
    if isinstance(period, dict):
        first, last = period["since"] or "the beginning", period["until"] or "the day of the report"
        yield f"Verdicts from {first} to {last}."
        yield ""
    yield f"Answers: {summary['answers']}. Factual claims: {summary['claims']}."
    yield ""
    yield "## 2. Situations of risk (Art. 12(2)(a))"
    yield ""
    yield from _table(("risk", "claims"), summary["risk_levels"])
    yield from _table(("tier", "answers"), summary["tiers"])
    if summary["distortions"]:
        yield from _table(("distortion", "claims"), summary["distortions"])
    yield "## 3. What each output was checked against (Art. 12(2)(b), 12(3)(b) and (c))"
    yield ""
    for answer in answers:
        yield from _answer(answer)
    yield "## 4. How this report was made, and how it can be checked (Art. 12(2)(c))"
    yield ""
    yield from _method(document)


def _answer(answer: Mapping[str, object]) -> Iterator[str]:
    yield f"### {_cell(answer['trace_id'])}"
    yield ""
    yield f"- task: {_cell(answer['task'])}"
    yield f"- decision: {answer['decision']}; tier {answer['tier']}; risk {_figure(answer['risk'])}"
    yield f"- grounded claims: {_percent(answer['grounding_percentage'])}"
    if answer["content_hash"]:
        yield f"- version of the record: {answer['content_hash']}"
    yield ""
    claims = answer["claims"]
    assert isinstance(claims, list)
    if claims:
        yield "| claim | attribution | relation | support | risk | found | rests on |"
        yield "|---|---|---|---|---|---|---|"
    for claim in claims:
        found = [each["reason"] for each in claim["distortions"]]
        found += [f"{each['text']} is in no source" for each in claim["fabrications"]]
        rests = ", ".join(link["tool_name"] for link in claim["chain"])
        yield (
            f"| {_cell(claim['text'])} | {claim['attribution']} | {claim['relation'] or 'not judged'} "
            f"| {_figure(claim['support_probability'])} | {claim['risk']['level']} "
            f"{_figure(claim['risk']['total'])} | {_cell('; '.join(found) or '–')} | {_cell(rests)} |"
        )
    if claims:
        yield ""
    yield from _listed(answer)


def _listed(answer: Mapping[str, object]) -> Iterator[str]:
    contradictions, omissions = answer["contradictions"], answer["omitted_facts"]
    citations = answer["fabricated_citations"]
    assert isinstance(contradictions, list) and isinstance(omissions, list)
    assert isinstance(citations, list)
    for each in contradictions:
        yield (
            f"- contradiction ({each['kind']}): “{_cell(each['first']['text'])}” and "
            f"“{_cell(each['second']['text'])}”"
        )
    for each in omissions:
        yield f"- omitted, {each['severity']} ({each['category']}): {_cell(each['text'])}"
    for each in citations:
        yield f"- cited and not in the captured run: {_cell(each['text'])}"
    if contradictions or omissions or citations:
        yield ""


def _method(document: Mapping[str, object]) -> Iterator[str]:
    method, trail = document["method"], document["audit_trail"]
    assert isinstance(method, dict)
    parts = " + ".join(f"{w:.2f} {name}" for name, w in method["risk_weights"].items())
    yield f"- risk = {parts}; LOW < 0.25, MEDIUM < 0.50, HIGH < 0.75, else CRITICAL"
    yield (
        f"- a claim is grounded from a likeness of {method['grounded_from']}, the model's own "
        f"knowledge below {method['parametric_below']}"
    )
    measured = method["measured"]
    yield (
        f"- on {measured['claims']} read clinical claims this risk ranks worse (AUROC "
        f"{measured['risk_auroc']:.2f}) than the support probability "
        f"({measured['support_auroc']:.2f}): decide by the support, read by the risk"
    )
    answers = document["answers"]
    assert isinstance(answers, list)
    for versions in sorted({json.dumps(a["versions"], sort_keys=True) for a in answers}):
        made = json.loads(versions)
        yield f"- made with: {', '.join(f'{name} {made[name]}' for name in sorted(made))}"
    if isinstance(trail, dict):
        state = "intact" if trail["intact"] else "NOT INTACT"
        yield f"- audit trail {trail['trail_id']}, {trail['events']} events, {state}, last {trail['head']}"
    yield f"- digest of this report's JSON: {document['sha256']}"


def _table(heads: tuple[str, str], rows: object) -> Iterator[str]:
    assert isinstance(rows, dict)
    yield f"| {heads[0]} | {heads[1]} |"
    yield "|---|---|"
    for name, count in rows.items():
        yield f"| {name} | {count} |"
    yield ""


def _cell(value: object) -> str:
    """A text that cannot break a table, nor become markup."""
    text = " ".join(str(value).split())
    text = text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
    for mark in ("\\", "|", "<", "`", "[", "*", "_", "#"):
        text = text.replace(mark, "\\" + mark)
    return text


def _figure(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "–"


def _percent(value: object) -> str:
    return f"{value:.0%}" if isinstance(value, float) else "no factual claim"
