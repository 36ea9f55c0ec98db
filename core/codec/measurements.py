"""What the stages measured of a claim, as the fields of its verdict and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from core.codec.fields import Fields
from core.codec.judge import judge_document, judge_from_fields
from core.records import (
    AlignedToken,
    Alignment,
    Attribution,
    AttributionStatus,
    Check,
    CheckedValue,
    Claim,
    Derivation,
    Entailment,
    FactPlace,
    Features,
    JsonObject,
    Judged,
    LiteralCheck,
    OtherSource,
    Outcome,
    Premise,
    Probabilities,
    ProtectedValue,
    RankedSource,
    Relation,
    Route,
    Span,
    Support,
    Together,
    TokenScore,
    WholePoint,
)


def judged_fields(claim: Claim, judged: Judged) -> JsonObject:
    """The fields of a claim's document that only a judged claim fills."""
    attribution = judged.attribution
    fields: dict[str, object] = {
        "protected_values": [
            _value_document(checked) for checked in judged.literals.values if checked.settles
        ],
        "unwritten_values": [_value_document(checked) for checked in judged.literals.unwritten],
        "routed_source": _route_document(judged.route),
        "premise": {
            "source_id": judged.premise.source_id,
            "text": judged.premise.text,
            "spans": [span_document(span) for span in judged.premise.spans],
            "truncated": judged.premise.truncated,
            **({"call": judged.premise.call} if judged.premise.call else {}),
        },
        "nli": {
            "relation": judged.literals.relation.value,
            "probabilities": _probabilities_document(judged.entailment.probabilities),
            "rescued": judged.literals.rescued,
        },
        "alignment": {
            "tokens": [
                {"text": t.text, "span": span_document(t.span), "score": t.score, "weak": t.weak}
                for t in judged.alignment.tokens
            ],
            "supported_token_ratio": judged.alignment.supported_token_ratio,
            **_source_tokens_document(judged.alignment),
        },
        "calibrator_input": features_document(judged.features),
        "support_probability": judged.support.probability,
        "threshold": judged.support.threshold,
        **(
            {}
            if judged.support.review_from is None
            else {"review_from": judged.support.review_from}
        ),
        **(
            {}
            if judged.support.threshold_kind is None
            else {"threshold_kind": judged.support.threshold_kind}
        ),
        **_together_document(judged.support.together),
        "support_decision": "supported" if judged.support.supported else "blocked",
        "checks": [_check_document(check) for check in judged.checks],
        "attribution": {
            "status": attribution.status.value,
            "stated_family": attribution.stated_family,
            "routed_family": attribution.routed_family,
            "reason": attribution.reason,
        },
    }
    if judged.judge is not None:
        fields["judge"] = judge_document(judged.judge)
    if judged.others_kept:
        fields["rescoring"] = _rescoring(claim, judged)
    return fields


def judged_from_fields(read: Fields) -> Judged:
    """The measurements of a judged claim; raises BadRecord."""
    premise, alignment, nli = read.nested("premise"), read.nested("alignment"), read.nested("nli")
    features = features_from_document(read.nested("calibrator_input"))
    probabilities = _probabilities(nli.nested("probabilities"))
    kept = read.optional_object("rescoring")
    values = [_value(value, settles=True) for value in read.items("protected_values")]
    values += [_value(value, settles=False) for value in read.objects("unwritten_values")]
    return Judged(
        route=_route(read.nested("routed_source")),
        premise=Premise(
            source_id=premise.string("source_id"),
            text=premise.string("text"),
            spans=premise.spans("spans"),
            truncated=premise.boolean("truncated"),
            call=premise.optional_string("call") or "",
        ),
        # The document names the relation after lexical rescue; before it, it was the most probable.
        entailment=Entailment(relation=probabilities.relation, probabilities=probabilities),
        alignment=Alignment(
            tokens=tuple(_token(token) for token in alignment.items("tokens")),
            supported_token_ratio=alignment.number("supported_token_ratio"),
            # Verdicts of earlier versions keep none.
            source_tokens=tuple(
                TokenScore(span=token.span("span"), score=token.number("score"))
                for token in alignment.objects("source_tokens")
            ),
        ),
        literals=LiteralCheck(
            values=tuple(values),
            identity_mismatches=tuple(kept.strings("identity_mismatches")) if kept else (),
            term_overlap=features.numeric.get("term_overlap", 0.0),
            relation=nli.choice(Relation, "relation"),
            rescued=nli.get("rescued") is True,
        ),
        features=features,
        support=Support(
            probability=read.number("support_probability"),
            threshold=read.number("threshold"),
            review_from=None if read.get("review_from") is None else read.number("review_from"),
            threshold_kind=read.optional_string("threshold_kind"),
            together=_together(read.optional_object("together")),
        ),
        attribution=_attribution(read.nested("attribution")),
        others=tuple(_other(other, features) for other in kept.items("others")) if kept else (),
        checks=tuple(_check(check) for check in read.objects("checks")),
        others_kept=kept is not None,
        judge=None if (told := read.optional_object("judge")) is None else judge_from_fields(told),
    )


def _together_document(together: Together | None) -> JsonObject:
    return {} if together is None else {"together": asdict(together)}


def _together(read: Fields | None) -> Together | None:
    if read is None:
        return None
    asked = read.nested("asked")
    counts = {name: asked.integer(name) for name in ("bad", "bad_passed", "good", "good_passed")}
    point = WholePoint(threshold=asked.number("threshold"), **counts)
    return Together(weakest=read.number("weakest"), asked=point)


def features_document(features: Features) -> JsonObject:
    """``calibrator_input``, with the names of Appendix B."""
    return {
        "categorical_features": dict(features.categorical),
        "numeric_features": dict(features.numeric),
    }


def features_from_document(read: Fields) -> Features:
    """The features that ``features_document`` wrote; raises BadRecord."""
    categorical = read.nested("categorical_features")
    numeric = read.nested("numeric_features")
    return Features(
        categorical={name: categorical.string(name) for name in categorical.value},
        numeric={name: numeric.number(name) for name in numeric.value},
    )


def span_document(span: Span) -> list[int]:
    """A span as ``[start, end]``."""
    return [span.start, span.end]


# ---------------------------------------------------------------- route, tokens, values


def _source_tokens_document(alignment: Alignment) -> JsonObject:
    if not alignment.source_tokens:
        return {}
    tokens = [{"span": span_document(t.span), "score": t.score} for t in alignment.source_tokens]
    return {"source_tokens": tokens}


def _route_document(route: Route) -> JsonObject:
    return {
        "source_id": route.source_id,
        "tool_name": route.tool_name,
        "family": route.family,
        "route_score": route.score,
        "routing_margin": route.margin,
        "ranking": [
            {
                "source_id": ranked.source_id,
                "score": ranked.score,
                "nli": None
                if ranked.probabilities is None
                else _probabilities_document(ranked.probabilities),
            }
            for ranked in route.ranking
        ],
    }


def _route(read: Fields) -> Route:
    return Route(
        source_id=read.string("source_id"),
        tool_name=read.string("tool_name"),
        family=read.string("family"),
        score=read.number("route_score"),
        margin=read.number("routing_margin"),
        ranking=tuple(_ranked(ranked) for ranked in read.items("ranking")),
    )


def _ranked(read: Fields) -> RankedSource:
    probabilities = read.optional_object("nli")
    return RankedSource(
        source_id=read.string("source_id"),
        score=read.number("score"),
        probabilities=None if probabilities is None else _probabilities(probabilities),
    )


def _probabilities_document(probabilities: Probabilities) -> JsonObject:
    return {
        "entailment": probabilities.entailment,
        "neutral": probabilities.neutral,
        "contradiction": probabilities.contradiction,
    }


def _probabilities(read: Fields) -> Probabilities:
    return Probabilities(
        entailment=read.number("entailment"),
        neutral=read.number("neutral"),
        contradiction=read.number("contradiction"),
    )


def _token(read: Fields) -> AlignedToken:
    return AlignedToken(
        text=read.string("text"),
        span=read.span("span"),
        score=read.number("score"),
        weak=read.boolean("weak"),
    )


def _value_document(checked: CheckedValue) -> JsonObject:
    return {
        "text": checked.value.text,
        "kind": checked.value.kind,
        "normalised": checked.value.normalised,
        "present": checked.present,
        "span": span_document(checked.value.span),
        "nearest": checked.nearest,
        "identity": checked.value.identity,
    }


def _value(read: Fields, *, settles: bool) -> CheckedValue:
    return CheckedValue(
        value=ProtectedValue(
            text=read.string("text"),
            span=read.span("span"),
            kind=read.string("kind"),
            normalised=read.string("normalised"),
            identity=read.get("identity") is True,
        ),
        present=read.boolean("present"),
        nearest=read.optional_string("nearest"),
        settles=settles,
    )


def _attribution(read: Fields) -> Attribution:
    return Attribution(
        status=read.choice(AttributionStatus, "status"),
        stated_family=read.optional_string("stated_family"),
        routed_family=read.optional_string("routed_family"),
        reason=read.string("reason"),
    )


# ---------------------------------------------------------------- checks


def _check_document(check: Check) -> JsonObject:
    derivation = check.derivation
    return {
        "check": check.check,
        "outcome": check.outcome.value,
        "veto": check.veto,
        "claim_span": None if check.claim_span is None else span_document(check.claim_span),
        "facts": [_place_document(place) for place in check.facts],
        "derivation": None
        if derivation is None
        else {
            "operation": derivation.operation,
            "inputs": [_place_document(place) for place in derivation.inputs],
            "result": derivation.result,
            "tolerance": derivation.tolerance,
            "text": derivation.text,
        },
        "reason": check.reason,
    }


def _check(read: Fields) -> Check:
    derivation = read.optional_object("derivation")
    return Check(
        check=read.string("check"),
        outcome=read.choice(Outcome, "outcome"),
        reason=read.string("reason"),
        veto=read.boolean("veto"),
        claim_span=read.optional_span("claim_span"),
        facts=tuple(_place(place) for place in read.items("facts")),
        derivation=None
        if derivation is None
        else Derivation(
            operation=derivation.string("operation"),
            inputs=tuple(_place(place) for place in derivation.items("inputs")),
            result=derivation.string("result"),
            tolerance=derivation.optional_string("tolerance"),
            text=derivation.string("text"),
        ),
    )


def _place_document(place: FactPlace) -> JsonObject:
    return {
        "source_id": place.source_id,
        "span": None if place.span is None else span_document(place.span),
        "path": place.path,
    }


def _place(read: Fields) -> FactPlace:
    return FactPlace(
        source_id=read.string("source_id"),
        span=read.optional_span("span"),
        path=read.optional_string("path"),
    )


# ---------------------------------------------------------------- what another calibrator needs


def _rescoring(claim: Claim, judged: Judged) -> JsonObject:
    """What else another calibrator needs to decide the claim again without reading anything.

    The other sources' features are given where they differ from the routed source's.
    """
    routed = judged.features
    return {
        "patient_specific": claim.patient_specific,
        "identity_mismatches": list(judged.literals.identity_mismatches),
        "others": [
            {
                "source_id": other.source_id,
                "categorical_features": _different(other.features.categorical, routed.categorical),
                "numeric_features": _different(other.features.numeric, routed.numeric),
            }
            for other in judged.others
        ],
    }


def _different(features: Mapping[str, object], from_: Mapping[str, object]) -> JsonObject:
    return {name: value for name, value in features.items() if value != from_.get(name)}


def _other(read: Fields, routed: Features) -> OtherSource:
    changed = features_from_document(read)
    return OtherSource(
        source_id=read.string("source_id"),
        features=Features(
            categorical={**routed.categorical, **changed.categorical},
            numeric={**routed.numeric, **changed.numeric},
        ),
    )
