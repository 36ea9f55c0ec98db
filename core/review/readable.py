"""One reviewed trace as a page for people: everything escaped, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from core.records import SourceStatus, Trace, VerdictLabel, Verification
from core.review.packet import claims_of
from core.review.records import Judgement, ReviewedClaim, ReviewStatus

# Mark, word and style of a final label: never colour alone.
LOOKS = {
    VerdictLabel.SUPPORTED: ("✓", "Supported", "supported"),
    VerdictLabel.CONTRADICTED: ("✕", "Contradicted", "contradicted"),
    VerdictLabel.UNSUPPORTED: ("?", "Unsupported", "unsupported"),
    VerdictLabel.NOT_ENOUGH_EVIDENCE: ("?", "Not enough evidence", "unsupported"),
    VerdictLabel.UNJUDGED: ("⊘", "Not judged", "unresolved"),
}
CONFLATED = ("⇄", "wrong source credited", "conflation")
UNRESOLVED = ("…", "Unresolved", "unresolved")

STATUS = {
    ReviewStatus.SINGLE: "one annotation",
    ReviewStatus.UNANIMOUS: "the annotations agree",
    ReviewStatus.ADJUDICATED: "decided by a third person",
    ReviewStatus.UNRESOLVED: "the annotations differ, and nobody has decided yet",
}

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2430; background: #fff; max-width: 60rem;
  margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #d5dbe3; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; overflow-wrap: anywhere; }
p, td, th, dd { overflow-wrap: anywhere; }
.quiet { color: #55606e; }
.verbatim { white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0; }
pre { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  background: #f5f7fa; border: 1px solid #d5dbe3; padding: .6rem .8rem; }
table { border-collapse: collapse; width: 100%; }
th, .when { white-space: nowrap; }
th, td { border: 1px solid #d5dbe3; padding: .3rem .5rem; text-align: left; vertical-align: top; }
mark { background: none; color: inherit; text-decoration: underline; text-decoration-thickness: 2px;
  text-underline-offset: 3px; text-decoration-color: var(--kind); }
mark b, .label { color: var(--kind); font-weight: 650; }
.supported { --kind: #00745a; } .contradicted { --kind: #b23c00; text-decoration-style: wavy; }
.conflation { --kind: #8e3a7d; text-decoration-style: double; }
.unsupported { --kind: #8a6100; text-decoration-style: dashed; }
.unresolved { --kind: #5b6470; text-decoration-style: dotted; }
.claim { border-left: 3px solid var(--kind); padding-left: .9rem; margin: 1.25rem 0;
  break-inside: avoid; }
@media (prefers-color-scheme: dark) { @media screen {
  body { color: #e6ebf1; background: #14181d; } .quiet { color: #a9b3bf; }
  h2, th, td, pre { border-color: #39424d; } pre { background: #1c2229; } a { color: #8db8ff; }
  .supported { --kind: #4cc7a4; } .contradicted { --kind: #ff9a66; }
  .conflation { --kind: #e29bd0; } .unsupported { --kind: #f0be4d; } .unresolved { --kind: #a9b3bf; }
} }
@page { margin: 18mm; }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 10.5pt; } }
"""


def trace_page(claims: Sequence[ReviewedClaim], trace: Trace, verdict: Verification | None) -> str:
    """The report of one trace: question, answer with its claims marked, reviews, sources in full."""
    ordered = sorted(claims, key=lambda claim: claim.claim_id)
    parts = [
        f"<h1>{_text(trace.trace_id)}</h1>",
        f'<p class="quiet">{_count(len(ordered), "reviewed claim")}, '
        f"{_count(len(trace.sources), 'source')}</p>",
        f'<h2>Question</h2><p class="verbatim">{_text(trace.question)}</p>',
        f'<h2>Answer</h2><p class="verbatim">{_marked(ordered, trace, verdict)}</p>',
        "<h2>Claims</h2>",
        *(_claim(number, claim) for number, claim in enumerate(ordered, 1)),
        "<h2>Sources</h2>",
        *(
            f"<h3>{_text(source.source_id)}</h3>"
            + (
                ""
                if source.status is SourceStatus.OK
                else f'<p class="quiet">Status: {_text(source.status.value.replace("_", " "))}</p>'
            )
            + f"<pre>{_text(source.text)}</pre>"
            for source in trace.sources
        ),
    ]
    return page(f"Review of {trace.trace_id}", parts)


def page(title: str, parts: Sequence[str]) -> str:
    """A whole document around parts that are escaped already."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            # The browser itself is told to fetch and to run nothing, should an escape be missing.
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(title)}</title><style>{STYLE}</style></head><body>",
            *parts,
            "</body></html>",
            "",
        ]
    )


def look_of(claim: ReviewedClaim) -> tuple[str, str, str]:
    """Mark, words and style of what stands for a claim."""
    final = claim.resolution.final
    if final is None:
        return UNRESOLVED
    mark, word, style = LOOKS[final.support]
    if final.conflation:
        return CONFLATED[0], f"{word}, {CONFLATED[1]}", CONFLATED[2]
    return mark, word, style


def _marked(claims: Sequence[ReviewedClaim], trace: Trace, verdict: Verification | None) -> str:
    """The answer with each reviewed claim underlined; of two that overlap, the first is."""
    if trace.answer is None:
        return '<span class="quiet">No answer was captured.</span>'
    places = {each.claim.claim_id: each.claim.span for each in claims_of(verdict)}
    spans = []
    for number, claim in enumerate(claims, 1):
        span = places.get(claim.claim_id)
        if span is not None:
            spans.append((span.start, span.end, number, claim))
    parts, at = [], 0
    for start, end, number, claim in sorted(spans, key=lambda each: each[:2]):
        if start < at:
            continue
        mark, word, style = look_of(claim)
        parts += [
            _text(trace.answer[at:start]),
            f'<mark class="{style}" title="{_text(word)}"><b>{mark}{number}</b> ',
            _text(trace.answer[start:end]),
            "</mark>",
        ]
        at = end
    return "".join([*parts, _text(trace.answer[at:])])


def _claim(number: int, claim: ReviewedClaim) -> str:
    mark, word, style = look_of(claim)
    final = claim.resolution.final
    rows = "".join(
        f"<tr><td>{_text(annotation.reviewer)}<br><span class='quiet when'>{_moment(annotation.at)}"
        f"</span></td><td>{_judged(annotation.judgement)}"
        f"{_changed(annotation.first, annotation.judgement)}</td>"
        f"<td>{annotation.confidence or '–'}</td><td>{_text(annotation.rationale) or '–'}</td></tr>"
        for annotation in claim.annotations
    )
    decided = claim.adjudication
    if decided is not None:
        rule = f" (rule {_text(decided.rule)})" if decided.rule else ""
        rows += (
            f"<tr><td>{_text(decided.reviewer)} <b>decides</b><br><span class='quiet when'>"
            f"{_moment(decided.at)}</span></td><td>{_judged(decided.judgement)}</td>"
            f"<td>–</td><td>{_text(decided.cause.value.replace('_', ' '))}{rule}: "
            f"{_text(decided.rationale)}</td></tr>"
        )
    source = ""
    if final is not None:
        source = f", source: {_text(final.source_id)}" if final.source_id else ", no source"
    return (
        f'<section class="claim {style}"><h3>{number}. {_text(claim.text)}</h3>'
        f'<p><span class="label">{mark} {_text(word)}</span>{source}'
        f' <span class="quiet">({STATUS[claim.resolution.status]})</span></p>'
        f"{_machine(claim)}<table><tr><th>Who, when</th><th>Judgement</th><th>Confidence</th>"
        f"<th>Why</th></tr>{rows}</table></section>"
    )


def _machine(claim: ReviewedClaim) -> str:
    signal = claim.signal
    if signal is None:
        return ""
    said = LOOKS[signal.verdict][1] if signal.verdict else "nothing"
    number = "" if signal.probability is None else f", support {signal.probability:.2f}"
    limit = "" if signal.threshold is None else f" (threshold {signal.threshold:.2f})"
    routed = f", source: {_text(signal.routed_source_id)}" if signal.routed_source_id else ""
    return f'<p class="quiet">The verifier said: {_text(said)}{routed}{number}{limit}</p>'


def _judged(judgement: Judgement) -> str:
    source = _text(judgement.source_id) if judgement.source_id else "no source"
    credit = {True: ", wrong source credited", False: ", no wrong credit", None: ""}
    return f"{LOOKS[judgement.support][1]}, {source}{credit[judgement.conflation]}"


def _changed(first: Judgement | None, last: Judgement) -> str:
    if first is None or first == last:
        return ""
    return f'<br><span class="quiet">before the reveal: {_judged(first)}</span>'


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _text(value: str) -> str:
    """``value`` as text of the page; what UTF-8 cannot hold is shown as �."""
    plain = value.replace("\x00", "␀").encode("utf-8", "replace").decode("utf-8")
    return escape(plain, quote=True)
