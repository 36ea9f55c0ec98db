"""A verification and its trace, laid out for the evidence view: what to show where, no rules.

Everything here ends as JSON for the browser, where it becomes text nodes and nothing else. Spans
in it are UTF-16 offsets (``Offsets``), because that is how a browser counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from core.codec import versions_document
from core.records import (
    AnswerDecision,
    ClaimVerdict,
    Decision,
    Trace,
    Verification,
    Versions,
    answer_state,
)
from pages.widgets.answer_layout import answer_parts, lay_out_blocks
from pages.widgets.claim_view import lay_out_claim, likelihood
from pages.widgets.counting import counted
from pages.widgets.judge_view import lay_out_judge
from pages.widgets.palette import DECISIONS, LOOKS, Kind, claim_kind, shown_state
from pages.widgets.plain import spaced
from pages.widgets.source_marks import lay_out_text
from pages.widgets.source_view import lay_out_source, matrix_columns, source_names, sources_sent
from storage.records import ByPeople

Json = Mapping[str, object]


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
    kinds = [claim_kind(verdict) for verdict in verdicts]
    sent = sources_sent(verification, opened)
    offsets = {source_id: one.offsets for source_id, one in sent.items()}
    labels = people.passes if people else {}
    claims = [
        {
            **_with_label(
                lay_out_claim(number, verdict, kind, names, families, sent),
                labels.get(verdict.claim.claim_id),
            ),
            "likelihood": likelihood(verdict, prior),
            "judge": lay_out_judge(verdict, verification.trace, names, offsets),
        }
        for number, (verdict, kind) in enumerate(zip(verdicts, kinds, strict=True))
    ]
    return {
        "trace": _trace(verification, trace),
        "decision": _decision(_shown_state(verification, people) if verified_at else "pending"),
        "reasons": _reasons(verification, people),
        "counts": _counts(kinds),
        "notices": list(trace.notices),
        "pieces": _answer_pieces(verification),
        "blocks": lay_out_blocks(verification.trace.answer or ""),
        "claims": claims,
        "first": _first_claim(kinds, verdicts),
        "sources": [
            lay_out_source(
                source,
                families[source.source_id],
                kept.get(source.source_id),
                names[source.source_id],
            )
            for source in sources
        ],
        "columns": matrix_columns(verification),
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


def _reasons(verification: Verification, people: ByPeople | None) -> list[Json]:
    """The verifier's reasons, and what people settled: first where that is why the state is as it is."""
    reasons = [_reason(reason, verification.claims) for reason in verification.answer.reasons]
    if people is None:
        return reasons
    passing, settled = sum(people.passes.values()), len(people.passes)
    alone = DECISIONS[_shown_state(verification)].word.lower()
    words = (
        f"people settled {counted(settled, 'claim')}, of which {passing:,} "
        f"{'passes' if passing == 1 else 'pass'}. The verifier alone says: {alone}."
    )
    settled_words = {"claim": None, "text": words}
    if people.state is answer_state(verification):
        return [*reasons, settled_words]
    return [settled_words, *reasons]


def _with_label(claim: Json, passes: bool | None) -> Json:
    """The claim, and before the reasons what its final label says."""
    if passes is None:
        return claim
    said = f"People settled this claim: it {'passes' if passes else 'does not pass'}."
    return {**claim, **{name: [said, *claim[name]] for name in ("reasons", "reasons_beside")}}  # type: ignore[misc]


def _decision(decision: str) -> Json:
    look = DECISIONS[decision]
    return {"kind": decision, "mark": look.mark, "word": look.word}


def _reason(reason: str, verdicts: Sequence[ClaimVerdict]) -> Json:
    """A reason of the answer, with the claim that it opens with ("c01: …") as a link."""
    short, colon, words = reason.partition(": ")
    for verdict in verdicts:
        if colon and verdict.claim.claim_id.endswith(f"::{short}"):
            return {"claim": verdict.claim.claim_id, "text": words}
    return {"claim": None, "text": reason}


def _counts(kinds: Sequence[Kind]) -> list[Json]:
    found = Counter(kinds)
    return [
        {"kind": kind.value, "mark": look.mark, "word": look.word, "n": found[kind]}
        for kind, look in LOOKS.items()
        if found[kind]
    ]


def _first_claim(kinds: Sequence[Kind], verdicts: Sequence[ClaimVerdict]) -> str | None:
    for kind in LOOKS:
        for verdict, its_kind in zip(verdicts, kinds, strict=True):
            if its_kind is kind:
                return verdict.claim.claim_id
    return None


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
