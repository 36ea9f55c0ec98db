"""What the stages and a judge found of a claim, as the fields of its verdict and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from core.codec.fields import Fields, read_record, record_document
from core.records import (
    Alignment,
    Attribution,
    Check,
    CheckedValue,
    Claim,
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
    Span,
    Support,
    Together,
)
from core.records.judge import (
    Calculation,
    JudgeOutcome,
    JudgeVerdict,
    NotShown,
    Offline,
    Proof,
    Proved,
    QuotedPart,
    QuotePlace,
    Unproved,
)


def judged_fields(claim: Claim, judged: Judged) -> JsonObject:
    """The fields of a claim's document that only a judged claim fills."""
    support = record_document(judged.support)
    fields: dict[str, object] = {
        "protected_values": [
            _value_document(checked) for checked in judged.literals.values if checked.settles
        ],
        "unwritten_values": [_value_document(checked) for checked in judged.literals.unwritten],
        "routed_source": record_document(judged.route),
        "premise": record_document(judged.premise),
        "nli": {
            "relation": judged.literals.relation.value,
            "probabilities": record_document(judged.entailment.probabilities),
            "rescued": judged.literals.rescued,
        },
        "alignment": record_document(judged.alignment),
        "calibrator_input": record_document(judged.features),
        "support_probability": support.pop("probability"),
        **support,
        "support_decision": "supported" if judged.support.supported else "blocked",
        "checks": [_check_document(check) for check in judged.checks],
        "attribution": record_document(judged.attribution),
    }
    if judged.judge is not None:
        fields["judge"] = judge_document(judged.judge)
    if judged.others_kept:
        fields["rescoring"] = _rescoring(claim, judged)
    return fields


def judged_from_fields(read: Fields) -> Judged:
    """The measurements of a judged claim; raises BadRecord."""
    nli = read.nested("nli")
    features: Features = read.read(Features, "calibrator_input")
    probabilities: Probabilities = nli.read(Probabilities, "probabilities")
    kept, judge = read.optional_object("rescoring"), read.optional_object("judge")
    return Judged(
        route=read.read(Route, "routed_source"),
        premise=read.read(Premise, "premise"),
        # The document names the relation after lexical rescue; before it, it was the most probable.
        entailment=Entailment(relation=probabilities.relation, probabilities=probabilities),
        alignment=read.read(Alignment, "alignment"),
        literals=LiteralCheck(
            values=(
                *(_value(value, settles=True) for value in read.items("protected_values")),
                *(_value(value, settles=False) for value in read.objects("unwritten_values")),
            ),
            identity_mismatches=kept.tuple_of(str, "identity_mismatches") if kept else (),
            term_overlap=features.numeric.get("term_overlap", 0.0),
            relation=nli.read(Relation, "relation"),
            rescued=nli.get("rescued") is True,
        ),
        features=features,
        support=Support(
            probability=read.read(float, "support_probability"),
            threshold=read.read(float, "threshold"),
            review_from=read.read(float | None, "review_from"),
            threshold_kind=read.optional_string("threshold_kind"),
            together=read.read(Together | None, "together"),
            base_rate=read.read(float | None, "base_rate"),
        ),
        attribution=read.read(Attribution, "attribution"),
        others=tuple(_other(other, features) for other in kept.items("others")) if kept else (),
        checks=read.tuple_of(Check, "checks"),
        others_kept=kept is not None,
        judge=None if judge is None else judge_from_fields(judge),
    )


# ---------------------------------------------------------------- values and checks


def _value_document(checked: CheckedValue) -> JsonObject:
    return {
        "text": checked.value.text,
        "kind": checked.value.kind,
        "normalised": checked.value.normalised,
        "present": checked.present,
        "span": [checked.value.span.start, checked.value.span.end],
        "nearest": checked.nearest,
        "identity": checked.value.identity,
    }


def _value(read: Fields, *, settles: bool) -> CheckedValue:
    return CheckedValue(
        value=read_record(ProtectedValue, read.value, read.path),
        present=read.read(bool, "present"),
        nearest=read.optional_string("nearest"),
        settles=settles,
    )


def _check_document(check: Check) -> JsonObject:
    document = record_document(check)
    del document["binding"]  # what the calibrator's features already hold
    return document


# ---------------------------------------------------------------- a judge


def judge_document(outcome: JudgeOutcome) -> JsonObject:
    """``by``, and either a ``notice`` why nothing was read or what was said and is proved of it.

    ``proof`` is "proved", "unproved" or "nothing"; ``verdict`` is null for the last. ``offline`` is the
    state and the probability without the judge.
    """
    proof = outcome.proof
    before = None if outcome.offline is None else asdict(outcome.offline)
    worth = {} if outcome.worth is None else {"worth": outcome.worth}
    document: JsonObject = {"by": outcome.by, "notice": outcome.notice, "offline": before, **worth}
    if proof is None:
        return document
    shown = None if isinstance(proof, NotShown) else proof
    return {
        **document,
        "proof": {Proved: "proved", Unproved: "unproved", NotShown: "nothing"}[type(proof)],
        "verdict": shown.verdict.value if shown else None,
        "why": outcome.why,
        "source_id": outcome.source_id,
        "stated_is_right": outcome.stated_is_right,
        "failed": list(proof.failed) if isinstance(proof, Unproved) else [],
        "quotes": [_quote_document(place) for place in shown.places] if shown else [],
        "calculations": [asdict(made) for made in proof.calculations]
        if isinstance(proof, Proved)
        else [],
    }


def judge_from_fields(read: Fields) -> JudgeOutcome:
    """The outcome that a document tells; raises BadRecord."""
    kind = read.optional_string("proof")
    proof: Proof | None = None
    if kind in ("proved", "unproved"):
        places = tuple(_quote(place) for place in read.objects("quotes"))
        verdict = read.read(JudgeVerdict, "verdict")
        if kind == "proved":
            calculations = read.tuple_of(Calculation, "calculations")
            proof = Proved(verdict=verdict, places=places, calculations=calculations)
        else:
            failed = read.tuple_of(str, "failed")
            if not failed:
                raise read.wrong("failed", "what of the proof failed")
            proof = Unproved(verdict=verdict, failed=failed, places=places)
    elif kind is not None:
        proof = NotShown(why=read.string("why"))
    right = read.get("stated_is_right")
    return JudgeOutcome(
        by=read.string("by"),
        proof=proof,
        why=read.optional_string("why") or "",
        source_id=read.optional_string("source_id"),
        stated_is_right=right if isinstance(right, bool) else None,
        notice=read.optional_string("notice"),
        offline=read.read(Offline | None, "offline"),
        worth=read.read(float | None, "worth"),
    )


def _quote_document(place: QuotePlace) -> JsonObject:
    return {
        "source_id": place.source_id,
        "part": place.part.value,
        "start": place.span.start,
        "end": place.span.end,
        "exact": place.exact,
        "raw": None if place.raw is None else list(place.raw),
    }


def _quote(read: Fields) -> QuotePlace:
    raw: Span | None = read.read(Span | None, "raw")
    return QuotePlace(
        source_id=read.string("source_id"),
        part=read.read(QuotedPart, "part"),
        span=Span(start=read.read(int, "start"), end=read.read(int, "end")),
        exact=read.read(bool, "exact"),
        raw=None if raw is None else (raw.start, raw.end),
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
    changed = read_record(Features, read.value, read.path)
    return OtherSource(
        source_id=read.string("source_id"),
        features=Features(
            categorical={**routed.categorical, **changed.categorical},
            numeric={**routed.numeric, **changed.numeric},
        ),
    )
