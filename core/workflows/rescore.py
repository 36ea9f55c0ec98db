"""rescore: stored verdicts decided again by another calibrator or threshold, without reading anything.

A verdict document holds every reading and every feature that its decision rests on, so the stages
from III.5 on run again as they are: calibration, attribution, decision. What no calibrator can
change (claims set aside, claims that no stage could judge) stays as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from core.attribution.attribute import attribute
from core.attribution.families import Families
from core.config import PIPELINE_VERSION, Config
from core.errors import BadRecord
from core.pipeline import says_it
from core.ports import Calibrator, Progress
from core.records import (
    AlignedToken,
    Alignment,
    CheckedValue,
    Claim,
    ClaimType,
    ClaimVerdict,
    Decision,
    Entailment,
    Features,
    JsonObject,
    Judged,
    LiteralCheck,
    OtherSource,
    Premise,
    Probabilities,
    ProtectedValue,
    Relation,
    Route,
    SetAside,
    Source,
    SourceStatus,
    Span,
    StatedAttribution,
    Trace,
    Unjudged,
    VerdictLabel,
)
from core.stages.calibration import decide_support
from core.stages.decision import decide_answer, decide_claim
from core.workflows.summary import versions_of
from core.workflows.verify import run_key, silent

OTHER_SETTINGS = "verified under other settings or by another version of the pipeline"
WITHOUT_FEATURES = "verified before the features of all sources were kept"


class RescoringStore(Protocol):
    """A store that gives its latest verdicts back to be decided again."""

    def count_to_rescore(self, calibrator: str) -> int:
        """How many newest traces have a latest verdict by another calibrator."""
        ...

    def verdicts_to_rescore(self, calibrator: str) -> Iterator[Sequence[tuple[str, JsonObject]]]:
        """Those verdicts as (trace content hash, document), window by window."""
        ...

    def put_verdicts(self, run_key: str, verdicts: Sequence[tuple[str, JsonObject]]) -> None:
        """Keep (trace content hash, verdict document) pairs in one transaction."""
        ...


@dataclass(slots=True, kw_only=True)
class RescoreReport:
    """What a rescoring did: answers decided again, those that changed, and those left out by reason."""

    calibrator: str
    rescored: int = 0
    now_blocked: int = 0
    now_allowed: int = 0
    claims_changed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def rescore_stored(
    store: RescoringStore,
    calibrator: Calibrator,
    families: Families,
    config: Config,
    progress: Progress = silent,
) -> RescoreReport:
    """Decide every stored answer again by ``calibrator``; each window is kept in one transaction.

    A rescoring that was stopped goes on where it was. What cannot be decided again keeps its old
    verdict, waits for the models, and is counted with the reason.
    """
    report = RescoreReport(calibrator=calibrator.name)
    total, done = store.count_to_rescore(calibrator.name), 0
    progress(0, total, "answers")
    for window in store.verdicts_to_rescore(calibrator.name):
        fit: list[tuple[str, JsonObject]] = []
        for content, document in window:
            reason = why_not(document, families, config)
            if reason is None:
                fit.append((content, document))
            else:
                report.left_out[reason] += 1
        after = rescore([document for _, document in fit], calibrator, families, config)
        for (_, old), new in zip(fit, after, strict=True):
            _count(report, old, new)
        ready = [
            (run_key(versions_of(new)), content, new)
            for (content, _), new in zip(fit, after, strict=True)
        ]
        ready.sort(key=lambda one: one[0])  # stable: the order within a run stays
        for key, group in groupby(ready, key=lambda one: one[0]):
            store.put_verdicts(key, [(content, new) for _, content, new in group])
        done += len(window)
        progress(done, max(total, done), "answers")
    return report


def why_not(document: JsonObject, families: Families, config: Config) -> str | None:
    """Why a verdict cannot be decided again without the models; None when it can."""
    made = versions_of(document)
    if made.pipeline != PIPELINE_VERSION or made.config_sha256 != config.sha256(families.digest):
        return OTHER_SETTINGS
    for claim in _objects(document, "claims"):
        if claim.get("calibrator_input") is not None and claim.get("rescoring") is None:
            return WITHOUT_FEATURES
    return None


def rescore(
    documents: Sequence[JsonObject], calibrator: Calibrator, families: Families, config: Config
) -> list[JsonObject]:
    """The documents as the pipeline would have written them with ``calibrator``, latency aside.

    A repair stays where its answer's claims are decided as before; else it is taken out, since it
    was made for other decisions. Raises BadRecord naming the path of a value that cannot be read.
    """
    read = [_read(document) for document in documents]
    rows = [
        features
        for one in read
        for claim in one.claims
        if isinstance(claim, ToDecide)
        for features in claim.rows
    ]
    chances = iter(map(float, calibrator.probabilities(rows))) if rows else iter(())
    return [_decided(one, chances, calibrator, families, config) for one in read]


# ---------------------------------------------------------------- deciding


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDecide:
    """A judged claim as its document tells it, up to III.5."""

    document: JsonObject
    claim: Claim
    route: Route
    entailment: Entailment
    alignment: Alignment
    literals: LiteralCheck
    features: Features
    others: tuple[OtherSource, ...]

    @property
    def rows(self) -> tuple[Features, ...]:
        """What the calibrator is asked about: the routed source, then the others."""
        return (self.features, *(other.features for other in self.others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A verdict document, read; claims that no calibrator can change are verdicts already."""

    document: JsonObject
    trace: Trace
    families: Mapping[str, str]
    claims: tuple[ToDecide | ClaimVerdict, ...]


def _decided(
    one: Opened,
    chances: Iterator[float],
    calibrator: Calibrator,
    families: Families,
    config: Config,
) -> JsonObject:
    verdicts: list[ClaimVerdict] = []
    claims: list[JsonObject] = []
    for claim, old in zip(one.claims, _objects(one.document, "claims"), strict=True):
        if isinstance(claim, ClaimVerdict):
            verdicts.append(claim)
            claims.append(old)
            continue
        probabilities = [next(chances) for _ in claim.rows]
        judged = _judge(claim, probabilities, calibrator, one.families, families, config)
        verdict = decide_claim(claim.claim, judged, config)
        verdicts.append(verdict)
        claims.append({**old, **_measured(judged), **_concluded(verdict)})
    answer = decide_answer(one.trace, verdicts)
    old_claims = _objects(one.document, "claims")
    same = all(
        new["decision"] == old["decision"] for new, old in zip(claims, old_claims, strict=True)
    )
    return {
        **one.document,
        "decision": answer.decision.value,
        "reasons": list(answer.reasons),
        "claims": claims,
        "repair": one.document.get("repair") if same else None,
        "versions": {**_object(one.document, "versions"), "calibrator": calibrator.name},
    }


def _judge(
    one: ToDecide,
    probabilities: Sequence[float],
    calibrator: Calibrator,
    of_source: Mapping[str, str],
    families: Families,
    config: Config,
) -> Judged:
    support = decide_support(probabilities[0], calibrator.threshold)
    holds_all = not one.literals.missing and not one.literals.identity_mismatches
    candidates = [(one.route.source_id, probabilities[0])] if holds_all else []
    candidates += [
        (other.source_id, chance)
        for other, chance in zip(one.others, probabilities[1:], strict=True)
    ]
    saying = frozenset(
        source_id for source_id, chance in candidates if says_it(chance, support.threshold, config)
    )
    attribution = attribute(
        one.claim, one.route, families=of_source, supporters=saying, catalogue=families
    )
    return Judged(
        route=one.route,
        # No stage from here on looks at the premise; the document keeps it as it is.
        premise=Premise(source_id=one.route.source_id, text="", spans=(), truncated=False),
        entailment=one.entailment,
        alignment=one.alignment,
        literals=one.literals,
        features=one.features,
        support=support,
        attribution=attribution,
        others=one.others,
    )


def _measured(judged: Judged) -> JsonObject:
    support, attribution = judged.support, judged.attribution
    return {
        "support_probability": support.probability,
        "threshold": support.threshold,
        "support_decision": "supported" if support.supported else "blocked",
        "attribution": {
            "status": attribution.status.value,
            "stated_family": attribution.stated_family,
            "routed_family": attribution.routed_family,
            "reason": attribution.reason,
        },
    }


def _concluded(verdict: ClaimVerdict) -> JsonObject:
    return {
        "verdict": verdict.verdict.value if verdict.verdict else None,
        "decision": verdict.decision.value,
        "reasons": list(verdict.reasons),
    }


def _count(report: RescoreReport, old: JsonObject, new: JsonObject) -> None:
    report.rescored += 1
    if old["decision"] != new["decision"]:
        blocked = new["decision"] == Decision.BLOCK
        report.now_blocked += blocked
        report.now_allowed += not blocked
    report.claims_changed += sum(
        before["decision"] != after["decision"]
        for before, after in zip(_objects(old, "claims"), _objects(new, "claims"), strict=True)
    )


# ---------------------------------------------------------------- reading a verdict document


def _read(document: JsonObject) -> Opened:
    try:
        sources = tuple(
            Source(
                source_id=_text(source, "source_id"),
                tool_name=_text(source, "tool_name"),
                text="",
                status=SourceStatus(_text(source, "status")),
            )
            for source in _objects(document, "sources")
        )
        answer = document.get("answer")
        return Opened(
            document=document,
            trace=Trace(
                trace_id=_text(document, "trace_id"),
                question="",
                answer=answer if isinstance(answer, str) else None,
                sources=sources,
            ),
            families={
                _text(source, "source_id"): _text(source, "family")
                for source in _objects(document, "sources")
            },
            claims=tuple(_claim(claim) for claim in _objects(document, "claims")),
        )
    except (KeyError, ValueError, TypeError) as error:
        # Only what is missing or of which kind: a stored value may quote a trace.
        detail = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else "a wrong value"
        raise BadRecord(f"this verdict cannot be decided again: {detail}") from None


def _claim(document: JsonObject) -> ToDecide | ClaimVerdict:
    stated = document["stated_attribution"]
    claim = Claim(
        claim_id=_text(document, "claim_id"),
        text=_text(document, "text"),
        span=_span(document, "span"),
        said=_text(document, "said"),
        claim_type=ClaimType(_text(document, "claim_type")),
        stated=_stated(stated) if isinstance(stated, Mapping) else None,
    )
    if document["calibrator_input"] is None:
        return _as_it_was(claim, document)
    kept = _object(document, "rescoring")
    checked = tuple(
        _checked(value, settles=True) for value in _objects(document, "protected_values")
    )
    if "unwritten_values" in document:
        checked += tuple(
            _checked(value, settles=False) for value in _objects(document, "unwritten_values")
        )
    nli, alignment = _object(document, "nli"), _object(document, "alignment")
    features = _features(_object(document, "calibrator_input"))
    probabilities = _probabilities(_object(nli, "probabilities"))
    route = _object(document, "routed_source")
    return ToDecide(
        document=document,
        claim=Claim(
            claim_id=claim.claim_id,
            text=claim.text,
            span=claim.span,
            said=claim.said,
            stated=claim.stated,
            patient_specific=bool(kept["patient_specific"]),
        ),
        route=Route(
            source_id=_text(route, "source_id"),
            tool_name=_text(route, "tool_name"),
            family=_text(route, "family"),
            score=_number(route, "route_score"),
            margin=_number(route, "routing_margin"),
            ranking=(),
        ),
        entailment=Entailment(relation=probabilities.relation, probabilities=probabilities),
        alignment=Alignment(
            # Of the words, a decision names the weak ones alone.
            tokens=tuple(
                AlignedToken(
                    text=_text(token, "text"),
                    span=_span(token, "span"),
                    score=_number(token, "score"),
                    weak=True,
                )
                for token in _objects(alignment, "tokens")
                if token["weak"]
            ),
            supported_token_ratio=_number(alignment, "supported_token_ratio"),
        ),
        literals=LiteralCheck(
            values=checked,
            identity_mismatches=_texts(kept, "identity_mismatches"),
            term_overlap=features.numeric["term_overlap"],
            relation=Relation(_text(nli, "relation")),
            rescued=bool(nli["rescued"]),
        ),
        features=features,
        others=tuple(_other(other, features) for other in _objects(kept, "others")),
    )


def _as_it_was(claim: Claim, document: JsonObject) -> ClaimVerdict:
    verdict, reasons = document["verdict"], _texts(document, "reasons")
    outcome = (
        Unjudged(stage="", reason="")
        if claim.claim_type is ClaimType.FACTUAL
        else SetAside(reason="")
    )
    return ClaimVerdict(
        claim=claim,
        outcome=outcome,
        verdict=VerdictLabel(str(verdict)) if verdict is not None else None,
        decision=Decision(_text(document, "decision")),
        reasons=reasons,
    )


def _stated(document: JsonObject) -> StatedAttribution:
    family, source_id = document["family"], document["source_id"]
    return StatedAttribution(
        text=_text(document, "text"),
        span=_span(document, "span"),
        family=family if isinstance(family, str) else None,
        source_id=source_id if isinstance(source_id, str) else None,
        also=_texts(document, "also") if "also" in document else (),
    )


def _checked(document: JsonObject, *, settles: bool) -> CheckedValue:
    nearest = document["nearest"]
    return CheckedValue(
        value=ProtectedValue(
            text=_text(document, "text"),
            span=_span(document, "span"),
            kind=_text(document, "kind"),
            normalised=_text(document, "normalised"),
            identity=bool(document["identity"]),
        ),
        present=bool(document["present"]),
        nearest=nearest if isinstance(nearest, str) else None,
        settles=settles,
    )


def _other(document: JsonObject, routed: Features) -> OtherSource:
    changed = _features(document)
    return OtherSource(
        source_id=_text(document, "source_id"),
        features=Features(
            categorical={**routed.categorical, **changed.categorical},
            numeric={**routed.numeric, **changed.numeric},
        ),
    )


def _features(document: JsonObject) -> Features:
    categorical = _object(document, "categorical_features")
    numeric = _object(document, "numeric_features")
    return Features(
        categorical={name: _text(categorical, name) for name in categorical},
        numeric={name: _number(numeric, name) for name in numeric},
    )


def _probabilities(document: JsonObject) -> Probabilities:
    return Probabilities(
        entailment=_number(document, "entailment"),
        neutral=_number(document, "neutral"),
        contradiction=_number(document, "contradiction"),
    )


def _object(holder: JsonObject, key: str) -> JsonObject:
    value = holder[key]
    if not isinstance(value, Mapping):
        raise TypeError(key)
    return value


def _objects(holder: JsonObject, key: str) -> Sequence[JsonObject]:
    value = holder[key]
    if not isinstance(value, list):
        raise TypeError(key)
    return value


def _text(holder: JsonObject, key: str) -> str:
    value = holder[key]
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _texts(holder: JsonObject, key: str) -> tuple[str, ...]:
    value = holder[key]
    if not isinstance(value, list):
        raise TypeError(key)
    return tuple(str(each) for each in value)


def _number(holder: JsonObject, key: str) -> float:
    value = holder[key]
    if not isinstance(value, int | float):
        raise TypeError(key)
    return float(value)


def _span(holder: JsonObject, key: str) -> Span:
    value = holder[key]
    if not isinstance(value, list):
        raise TypeError(key)
    start, end = value
    return Span(start=int(start), end=int(end))
