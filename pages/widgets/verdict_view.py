"""A verification and its trace, laid out for the evidence view: what to show where, no rules.

Everything here ends as JSON for the browser, where it becomes text nodes and nothing else. Spans
in it are UTF-16 offsets (``Offsets``), because that is how a browser counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.codec import versions_document
from core.records import (
    AnswerDecision,
    Decision,
    Trace,
    Verification,
    Versions,
    answer_state,
)
from core.review.adjudication import passes
from core.review.records import Unfit
from pages.widgets.answer_layout import answer_parts, lay_out_blocks
from pages.widgets.claim_view import lay_out_claim, likelihood
from pages.widgets.counting import counted
from pages.widgets.judge_view import lay_out_judge
from pages.widgets.palette import (
    DECISIONS,
    LOOKS,
    Kind,
    claim_kind,
    found_by_people,
    shown_state,
)
from pages.widgets.plain import spaced
from pages.widgets.source_marks import lay_out_text
from pages.widgets.source_view import lay_out_source, source_names, sources_sent
from storage.records import ByPeople

Json = Mapping[str, Any]
_ORDER = {kind.value: at for at, kind in enumerate(LOOKS)}


def lay_out(
    verification: Verification,
    trace: Trace,
    *,
    verified_at: datetime | None,
    opened: Sequence[str] = (),
    prior: float | None = None,
    people: ByPeople | None = None,
) -> Json:
    """The evidence view's data; ``opened`` names sources whose text must be in it.

    What ``people`` settled decides the state that is shown, and the verifier's stays beside it.

    ``verified_at`` is None for a trace that waits for its verdict; with a ``prior`` probabilities are told
    at it too.
    """
    verdicts, sources = verification.claims, verification.trace.sources
    names = source_names(sources)
    kept = {source.source_id: source for source in trace.sources}
    families = verification.families
    sent = sources_sent(verification, opened)
    offsets = {source_id: one.offsets for source_id, one in sent.items()}
    claims = [
        {
            **_as_settled(
                lay_out_claim(number, verdict, claim_kind(verdict), names, families, sent), people
            ),
            "likelihood": likelihood(verdict, prior),
            "judge": lay_out_judge(verdict, verification.trace, names, offsets),
        }
        for number, verdict in enumerate(verdicts)
    ]
    return {
        "trace": _trace(verification, trace),
        "decision": _decision(_shown_state(verification, people) if verified_at else "pending"),
        "reasons": _reasons(verification, people),
        "counts": _counts(claims),
        "notices": list(trace.notices),
        "pieces": _answer_pieces(verification),
        "blocks": lay_out_blocks(verification.trace.answer or ""),
        "claims": claims,
        "first": next(iter(_found_wrong(verification, people)), None) or _first_claim(claims),
        "sources": [
            lay_out_source(
                source,
                families[source.source_id],
                kept.get(source.source_id),
                names[source.source_id],
            )
            for source in sources
        ],
        "texts": {
            source_id: lay_out_text(source_id, one.text, kept.get(source_id), verdicts)
            for source_id, one in sent.items()
        },
        "verified": verified_at.isoformat(timespec="seconds") if verified_at else None,
        "versions": versions_document(verification.versions) if verified_at else {},
    }


def unverified(trace: Trace) -> Verification:
    """A trace that no run has verified yet, as a verification without claims."""
    return Verification(
        trace=trace,
        families=dict.fromkeys((source.source_id for source in trace.sources), ""),
        claims=(),
        answer=AnswerDecision(decision=Decision.UNAVAILABLE, reasons=()),
        versions=Versions(
            pipeline="", config_sha256="", embedder="", pair_reader="", precision="", calibrator=""
        ),
        latency_seconds={},
    )


# ---------------------------------------------------------------- header


def _trace(verification: Verification, trace: Trace) -> Json:
    verified = verification.trace
    tools = {source.tool_name for source in verified.sources}
    calls = len(verified.sources)
    return {
        "id": verified.trace_id,
        "category": spaced(trace.category),
        "tools": f"{counted(len(tools), 'tool')} · {counted(calls, 'output')}",
        "question": verified.question,
        "answer": verified.answer,
    }


def _shown_state(verification: Verification, people: ByPeople | None = None) -> str:
    state = people.state if people else answer_state(verification)
    return shown_state(verification.answer.decision, state)


def _reasons(verification: Verification, people: ByPeople | None) -> list[str]:
    """What is said of the answer as one, after what people settled; a claim's reasons stand with it."""
    short = tuple(f"{each.claim.claim_id.rpartition('::')[2]}: " for each in verification.claims)
    reasons = [each for each in verification.answer.reasons if not each.startswith(short)]
    if people is None:
        return reasons
    settled = len(people.final)
    passing = settled - len(_found_wrong(verification, people))
    alone = DECISIONS[_shown_state(verification)].word.lower()
    words = (
        f"People settled {counted(settled, 'claim')}, of which {passing:,} "
        f"{'passes' if passing == 1 else 'pass'}. The verifier alone says: {alone}."
    )
    return [words, *reasons]


def _found_wrong(verification: Verification, people: ByPeople | None) -> dict[str, str]:
    """The claims that people found wrong, in the answer's order: claim id → what they found."""
    final = people.labels if people else {}
    ids = (verdict.claim.claim_id for verdict in verification.claims)
    return {
        key: found_by_people(final[key])[1].word
        for key in ids
        if key in final and not passes(final[key])
    }


def _as_settled(claim: Json, people: ByPeople | None) -> Json:
    """The claim as people settled it, and before the reasons what the verifier says."""
    if people is None or claim["id"] not in people.final:
        return claim
    final, at = people.final[claim["id"]]
    kind, look = found_by_people(final)
    alone = f"The verifier alone: {claim['mark']} {claim['headline']}"
    cut = ", or cut wrongly" if isinstance(final.support, Unfit) else ""
    return {
        **claim,
        "kind": kind.value,
        "mark": look.mark,
        "word": look.word,
        "headline": f"People found it {look.word}{cut} · {at.astimezone():%d %b %Y}",
        "because": alone,
        "reasons": [alone, *claim["reasons"]],
    }


def _decision(decision: str) -> Json:
    look = DECISIONS[decision]
    return {"kind": decision, "mark": look.mark, "word": look.word}


def _counts(claims: Sequence[Json]) -> list[Json]:
    found = Counter(
        (each["kind"], each["mark"], each["word"]) for each in claims if each["kind"] != Kind.ASIDE
    )
    return [
        {"kind": kind, "mark": mark, "word": word, "n": n}
        for (kind, mark, word), n in sorted(found.items(), key=lambda each: _ORDER[each[0][0]])
    ]


def _first_claim(claims: Sequence[Json]) -> object:
    first = min(claims, key=lambda each: _ORDER[each["kind"]], default=None)
    return first and first["id"]


# ---------------------------------------------------------------- answer


def _answer_pieces(verification: Verification) -> list[Json]:
    """The answer cut where claims and credits begin and end; the pieces join to the answer."""
    answer = verification.trace.answer or ""
    claims = [verdict.claim for verdict in verification.claims]
    spans = [claim.span for claim in claims]
    credits = [claim.stated.span if claim.stated else None for claim in claims]
    edges = {0, len(answer)}
    for span in (*spans, *(credit for credit in credits if credit)):
        edges |= {span.start, span.end}
    pieces: list[Json] = []
    for part in answer_parts(answer, edges):
        here, start = part.span, part.span.start
        inside = [at for at, span in enumerate(spans) if span.overlaps(here)]
        # The smallest claim around a piece is the one that a click on it means.
        inside.sort(key=lambda at: (spans[at].end - spans[at].start, at))
        pieces.append(
            {
                "text": here.cut(answer),
                "block": part.block,
                "cell": part.cell,
                "look": part.look,
                "claims": inside,
                "opens": [at for at in sorted(inside) if spans[at].start == start],
                "credits": [at for at, span in enumerate(credits) if span and span.overlaps(here)],
            }
        )
    return pieces
