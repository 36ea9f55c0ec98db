"""A verification as the JSON document that other programs rely on, and back (formats.md, section 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from core.codec.fields import Fields, read_record, record_document
from core.codec.measurements import judged_fields, judged_from_fields
from core.records import (
    AnswerDecision,
    CitationFinding,
    Claim,
    ClaimType,
    ClaimVerdict,
    Decision,
    JsonObject,
    Judged,
    ProtectedValue,
    RepairAction,
    RepairOutcome,
    SetAside,
    Source,
    SourceStatus,
    Span,
    StatedAttribution,
    Trace,
    Unjudged,
    VerdictLabel,
    Verification,
    Versions,
    answer_state,
    state_of,
)

PROPOSAL = "proposal"  # no edit of a repair is made before a person has decided it

_FIELDS = frozenset(
    "trace_id content_hash question answer earlier_answers state decision reasons sources claims repair "
    "versions latency_seconds".split()
)
_CLAIM_FIELDS = frozenset(
    "claim_id text context span said claim_type stated_attribution protected_values unwritten_values "
    "routed_source premise nli alignment calibrator_input support_probability threshold "
    "review_from threshold_kind together base_rate support_decision verdict checks citations attribution "
    "state decision reasons rescoring judge".split()
)


def verdict_document(verification: Verification) -> JsonObject:
    """The verdict of one trace in the published format (one line of ``verify``'s output)."""
    trace, repair = verification.trace, verification.repair
    content_hash = verification.content_hash
    return {
        "trace_id": trace.trace_id,
        **({} if content_hash is None else {"content_hash": content_hash}),
        "question": trace.question,
        "answer": trace.answer,
        **({"earlier_answers": list(trace.earlier)} if trace.earlier else {}),
        "state": answer_state(verification).value,
        "decision": verification.answer.decision.value,
        "reasons": list(verification.answer.reasons),
        "sources": [
            {
                "source_id": source.source_id,
                "tool_name": source.tool_name,
                "family": verification.families[source.source_id],
                "text": source.text,
                "status": source.status.value,
            }
            for source in trace.sources
        ],
        "claims": [_claim_document(verdict) for verdict in verification.claims],
        "repair": None if repair is None else repair_document(repair),
        "versions": versions_document(verification.versions),
        "latency_seconds": _latency_document(verification.latency_seconds),
        **verification.extra,
    }


def verification_from_document(document: JsonObject) -> Verification:
    """The verification that a verdict document tells; raises BadRecord naming the path of a wrong value.

    Its trace has what the document says of it: the sources' texts, not their raw outputs. Verdicts
    of older versions lack fields that came later; what is not there is empty. A ``state`` is never
    believed: it follows from the rest.
    """
    read = Fields(document, "")
    claims = tuple(_claim_verdict(claim) for claim in read.items("claims"))
    sources = read.items("sources")
    return Verification(
        trace=Trace(
            trace_id=read.string("trace_id"),
            question=read.string("question"),
            answer=read.optional_string("answer"),
            earlier=read.tuple_of(str, "earlier_answers"),
            sources=tuple(_source(source) for source in sources),
        ),
        families={source.string("source_id"): source.string("family") for source in sources},
        claims=claims,
        answer=AnswerDecision(
            decision=read.read(Decision, "decision"), reasons=read.tuple_of(str, "reasons")
        ),
        versions=read.read(Versions, "versions"),
        latency_seconds=_latency(read.optional_object("latency_seconds")),
        repair=read.read(RepairOutcome | None, "repair"),
        content_hash=read.optional_string("content_hash"),
        extra=read.unknown(_FIELDS),
    )


def versions_document(versions: Versions) -> JsonObject:
    """The ``versions`` field of a verdict document."""
    return record_document(versions)


def versions_from_document(document: object) -> Versions:
    """What produced a verdict; raises BadRecord."""
    return read_record(Versions, document, "versions")


def repair_document(repair: RepairOutcome) -> JsonObject:
    """The ``repair`` field of a verdict document."""
    return {"state": PROPOSAL, **record_document(repair)}


def repair_from_document(document: JsonObject) -> RepairOutcome:
    """The repair that ``repair_document`` wrote; raises BadRecord naming the path of a wrong value."""
    return read_record(RepairOutcome, document, "repair")


def actions_of(document: JsonObject) -> tuple[RepairAction, ...]:
    """The actions alone of a ``repair`` document; raises BadRecord."""
    actions: tuple[RepairAction, ...] = Fields(document, "repair").read(
        tuple[RepairAction, ...], "actions"
    )
    return actions


def citation_document(finding: CitationFinding) -> JsonObject:
    """One entry of a claim's ``citations``; spans are in the answer, places in a source's text."""
    return record_document(finding)


# ---------------------------------------------------------------- claims


def _claim_document(verdict: ClaimVerdict) -> JsonObject:
    claim, outcome = verdict.claim, verdict.outcome
    document: dict[str, object] = {
        "claim_id": claim.claim_id,
        "text": claim.text,
        "context": list(claim.context),
        "span": [claim.span.start, claim.span.end],
        "said": claim.said,
        "claim_type": claim.claim_type.value,
        "stated_attribution": record_document(claim.stated) if claim.stated else None,
        "protected_values": [
            {"text": v.text, "kind": v.kind, "normalised": v.normalised, "present": None}
            for v in claim.protected_values
        ],
        "unwritten_values": [],
        "routed_source": None,
        "premise": None,
        "nli": None,
        "alignment": None,
        "calibrator_input": None,
        "support_probability": None,
        "threshold": None,
        "support_decision": None,
        "verdict": verdict.verdict.value if verdict.verdict else None,
        "checks": [],
        "citations": [citation_document(one) for one in verdict.citations],
        "attribution": {
            "status": "none",
            "stated_family": claim.stated.family if claim.stated else None,
            "routed_family": None,
            "reason": outcome.reason if isinstance(outcome, Unjudged) else "",
        },
        "state": state_of(verdict).value,
        "decision": verdict.decision.value,
        "reasons": list(verdict.reasons),
    }
    if isinstance(outcome, Judged):
        document |= judged_fields(claim, outcome)
    return {**document, **verdict.extra}


def _claim_verdict(read: Fields) -> ClaimVerdict:
    claim = _claim(read)
    reasons = read.tuple_of(str, "reasons")
    aside = claim.claim_type is not ClaimType.FACTUAL
    outcome: Judged | Unjudged | SetAside
    if aside:
        outcome = SetAside(reason=reasons[0] if reasons else "")
    elif read.get("calibrator_input") is None:
        outcome = Unjudged(stage="", reason=read.nested("attribution").string("reason"))
    else:
        outcome = judged_from_fields(read)
        claim = _judged_claim(claim, outcome, read)
    return ClaimVerdict(
        claim=claim,
        outcome=outcome,
        verdict=read.read(VerdictLabel | None if aside else VerdictLabel, "verdict"),
        decision=read.read(Decision, "decision"),
        reasons=reasons,
        citations=tuple(_citation(finding) for finding in read.objects("citations")),
        extra=read.unknown(_CLAIM_FIELDS),
    )


def _citation(read: Fields) -> CitationFinding:
    # The published format asks for the mark alone.
    covers = read.get("span") if read.get("covers") is None else read.get("covers")
    return read_record(CitationFinding, {**read.value, "covers": covers}, read.path)


def _claim(read: Fields) -> Claim:
    return Claim(
        claim_id=read.string("claim_id"),
        text=read.string("text"),
        context=read.tuple_of(str, "context") if read.get("context") else (),
        span=read.read(Span, "span"),
        said=read.string("said"),
        claim_type=read.read(ClaimType, "claim_type"),
        stated=read.read(StatedAttribution | None, "stated_attribution"),
        protected_values=_unchecked_values(read.string("text"), read),
    )


def _judged_claim(claim: Claim, judged: Judged, read: Fields) -> Claim:
    kept = read.optional_object("rescoring")
    return replace(
        claim,
        protected_values=tuple(checked.value for checked in judged.literals.values),
        patient_specific=kept is not None and kept.read(bool, "patient_specific"),
    )


def _unchecked_values(text: str, read: Fields) -> tuple[ProtectedValue, ...]:
    """The values of a claim that was not judged: in order, so each is the next of its kind."""
    used: Counter[str] = Counter()
    values = []
    for value in read.items("protected_values"):
        words = value.string("text")
        start = max(text.find(words, used[words]), 0)
        used[words] = start + len(words)
        values.append(
            ProtectedValue(
                text=words,
                span=Span(start=start, end=start + len(words)),
                kind=value.string("kind"),
                normalised=value.string("normalised"),
            )
        )
    return tuple(values)


# ---------------------------------------------------------------- sources and seconds


def _source(read: Fields) -> Source:
    return Source(
        source_id=read.string("source_id"),
        tool_name=read.string("tool_name"),
        text=read.string("text"),
        status=read.read(SourceStatus, "status"),
    )


def _latency_document(latency: Mapping[str, tuple[float, ...]]) -> JsonObject:
    document: dict[str, object] = {
        name: list(seconds) for name, seconds in latency.items() if name != "total"
    }
    document["total"] = sum(latency.get("total", ()))
    return document


def _latency(read: Fields | None) -> Mapping[str, tuple[float, ...]]:
    if read is None:
        return {}
    calls = {name: read.tuple_of(float, name) for name in read.value if name != "total"}
    return calls | {"total": (read.read(float, "total"),)}
