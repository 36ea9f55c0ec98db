"""One reviewed trace as a page for people: everything escaped, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from core.records import Trace, VerdictLabel, Verification
from core.review.packet import claims_of
from core.review.records import STATUS_WORDS, ReviewedClaim, Support, Unfit

# Mark, word and style of a final label: never colour alone.
LOOKS: Mapping[Support, tuple[str, str, str]] = {
    VerdictLabel.SUPPORTED: ("✓", "Supported", "supported"),
    VerdictLabel.CONTRADICTED: ("✕", "Contradicted", "contradicted"),
    VerdictLabel.UNSUPPORTED: ("?", "Unsupported", "unsupported"),
    VerdictLabel.NOT_ENOUGH_EVIDENCE: ("?", "Not enough evidence", "unsupported"),
    VerdictLabel.UNJUDGED: ("⊘", "Not judged", "unresolved"),
    Unfit.NOT_A_CLAIM: ("⊘", "Not a claim, or cut wrongly", "unresolved"),
}
CONFLATED = ("⇄", "wrong source credited", "conflation")
UNRESOLVED = ("…", "Unresolved", "unresolved")


def trace_page(claims: Sequence[ReviewedClaim], trace: Trace, verdict: Verification | None) -> str:
    """The report of one trace: question, answer with its claims marked, reviews, sources in full."""
    ordered = sorted(claims, key=lambda claim: claim.claim_id)
    return _template().render(
        title=f"Review of {trace.trace_id}",
        claims=ordered,
        trace=trace,
        pieces=_pieces(ordered, trace.answer or "", verdict),
    )


def index_page(listed: Iterable[tuple[str, str, Sequence[ReviewedClaim]]]) -> str:
    """The page that leads to those of the traces: of each its file, its id and its claims."""
    return _template().render(title="Reviewed traces", listed=listed)


def look_of(claim: ReviewedClaim) -> tuple[str, str, str]:
    """Mark, words and style of what stands for a claim."""
    final = claim.resolution.final
    if final is None:
        return UNRESOLVED
    mark, word, style = LOOKS[final.support]
    if final.conflation:
        return CONFLATED[0], f"{word}, {CONFLATED[1]}", CONFLATED[2]
    return mark, word, style


def _pieces(
    claims: Sequence[ReviewedClaim], answer: str, verdict: Verification | None
) -> Iterator[tuple[str, int, tuple[str, str, str] | None]]:
    """The answer in pieces, each reviewed claim with its look; of two that overlap, the first has one."""
    places = {each.claim.claim_id: each.claim.span for each in claims_of(verdict)}
    spans = [
        (span.start, span.end, number, claim)
        for number, claim in enumerate(claims, 1)
        if (span := places.get(claim.claim_id)) is not None
    ]
    at = 0
    for start, end, number, claim in sorted(spans, key=lambda each: each[:2]):
        if start >= at:
            yield answer[at:start], 0, None
            yield answer[start:end], number, look_of(claim)
            at = end
    yield answer[at:], 0, None


@lru_cache(maxsize=1)
def _template() -> Template:
    made = Environment(
        loader=PackageLoader("core.review", ""), autoescape=True, finalize=_writable,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals |= {
        "counted": lambda number, noun: f"{number} {noun}" + ("" if number == 1 else "s"),
        "look_of": look_of,
        "looks": LOOKS,
        "moment": lambda moment: f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "status": STATUS_WORDS,
    }
    return made.get_template("readable.html.j2")


def _writable(value: object) -> object:
    """A text as a page can hold it: NUL is shown as ␀, what UTF-8 cannot hold as ?."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return value.replace("\x00", "␀").encode("utf-8", "replace").decode("utf-8")
