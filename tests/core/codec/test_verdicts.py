"""A verdict's JSON and its record say the same: both ways, whatever is in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from builders import a_source, a_trace
from hypothesis import given
from hypothesis import strategies as st
from verdicts import HOSTILE, hostile, showcase

from core.codec import (
    content_hash,
    trace_document,
    trace_from_document,
    verdict_document,
    verification_from_document,
)
from core.errors import BadRecord
from core.records import (
    Alignment,
    AnswerDecision,
    Attribution,
    Check,
    CheckedValue,
    CitationFinding,
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
    RepairOutcome,
    Route,
    SetAside,
    Source,
    Span,
    StatedAttribution,
    Support,
    Trace,
    Unjudged,
    VerdictLabel,
    Verification,
    Versions,
)
from core.records.judge import JudgeOutcome, Proved, Unproved

TEXT = st.text(max_size=12)
SHARE = st.integers(0, 10_000).map(lambda n: n / 10_000)
JSON = st.dictionaries(TEXT, st.none() | SHARE | st.lists(TEXT, max_size=2), max_size=2)
SIMPLE: dict[object, st.SearchStrategy[Any]] = {
    str: TEXT,
    bool: st.booleans(),
    int: st.integers(0, 99),
    float: SHARE | st.integers(0, 99),
    type(None): st.none(),
    JsonObject: JSON,
}


def some(kind: Any, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any value of a type that records are made of; ``given`` replaces fields of a record."""
    inner = get_args(kind)
    if kind in SIMPLE:
        return SIMPLE[kind]
    if get_origin(kind) is tuple and inner[-1] is not ...:
        return st.tuples(*map(some, inner))
    if get_origin(kind) is tuple:
        return st.lists(some(inner[0]), max_size=2).map(tuple)
    if get_origin(kind) is Mapping:
        return st.dictionaries(TEXT, some(inner[1]), max_size=2)
    if inner:
        return st.one_of(*map(some, inner))
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    hints = get_type_hints(kind)
    fields = {name: some(hint) for name, hint in hints.items() if name not in given}
    return st.builds(kind, **fields, **given)


OTHER_VERSION: st.SearchStrategy[JsonObject] = st.just({}) | st.just(
    {"from_another_version": [1, {"a": None}]}
)


@st.composite
def judged(draw: st.DrawFn) -> Judged:
    """Measurements as the stages leave them: a value that settles nothing is a missing one."""
    probabilities = draw(some(Probabilities))
    written = draw(st.lists(some(CheckedValue, settles=st.just(True)), max_size=2))
    unwritten = draw(
        st.lists(some(CheckedValue, present=st.just(False), settles=st.just(False)), max_size=2)
    )
    overlap = draw(SHARE)
    features = Features(
        categorical={"verifier_label": draw(TEXT), "category": draw(TEXT)},
        numeric={"term_overlap": overlap, "route_score": draw(SHARE), "claim_len": 7},
    )
    other = Features(
        categorical={**features.categorical, "category": draw(TEXT)},
        numeric={**features.numeric, "route_score": draw(SHARE)},
    )
    failed = st.lists(TEXT, min_size=1, max_size=2).map(tuple)
    proofs = st.none() | some(Proved) | some(Unproved, failed=failed)
    return Judged(
        route=draw(some(Route)),
        premise=draw(some(Premise)),
        entailment=Entailment(relation=probabilities.relation, probabilities=probabilities),
        alignment=draw(some(Alignment)),
        literals=draw(
            some(
                LiteralCheck, values=st.just((*written, *unwritten)), term_overlap=st.just(overlap)
            )
        ),
        features=features,
        support=draw(some(Support)),
        attribution=draw(some(Attribution)),
        others=tuple(draw(st.lists(some(OtherSource, features=st.just(other)), max_size=2))),
        checks=tuple(draw(st.lists(some(Check, binding=st.none()), max_size=2))),
        judge=draw(st.none() | proofs.flatmap(judge_outcome)),
    )


def judge_outcome(proof: Proved | Unproved | None) -> st.SearchStrategy[JudgeOutcome]:
    """What a document tells of it: without a proof there is a notice and nothing else."""
    if proof is None:
        return some(
            JudgeOutcome,
            proof=st.none(),
            why=st.just(""),
            source_id=st.none(),
            stated_is_right=st.none(),
        )
    return some(JudgeOutcome, proof=st.just(proof))


@st.composite
def verdict(draw: st.DrawFn, number: int) -> ClaimVerdict:
    """One claim of any kind; what a document does not tell (a stage's name) is left empty."""
    outcome = draw(judged() | some(Unjudged, stage=st.just("")) | some(SetAside))
    label: VerdictLabel = draw(
        st.sampled_from([v for v in VerdictLabel if v is not VerdictLabel.UNJUDGED])
    )
    reasons: tuple[str, ...] = tuple(draw(st.lists(TEXT, max_size=2)))
    if isinstance(outcome, SetAside):
        reasons = (outcome.reason,)
    if isinstance(outcome, Unjudged):
        label = VerdictLabel.UNJUDGED
    factual = not isinstance(outcome, SetAside)
    return ClaimVerdict(
        claim=Claim(
            claim_id=f"t::c{number:02d}",
            text=draw(TEXT),
            span=draw(some(Span)),
            said=draw(TEXT),
            claim_type=ClaimType.FACTUAL if factual else ClaimType.ADVICE,
            stated=draw(st.none() | some(StatedAttribution)),
            protected_values=tuple(c.value for c in outcome.literals.values)
            if isinstance(outcome, Judged)
            else (),
            patient_specific=draw(st.booleans()) if isinstance(outcome, Judged) else False,
        ),
        outcome=outcome,
        verdict=label if factual else None,
        decision=draw(st.sampled_from([Decision.ALLOW, Decision.BLOCK])),
        reasons=reasons,
        citations=tuple(draw(st.lists(some(CitationFinding), max_size=2))),
        extra=draw(OTHER_VERSION),
    )


@st.composite
def verifications(draw: st.DrawFn) -> Verification:
    """Any verification, as far as a document tells it."""
    sources = tuple(
        Source(source_id=f"s{n}", tool_name=draw(TEXT), text=draw(TEXT))
        for n in range(draw(st.integers(0, 3)))
    )
    return Verification(
        trace=Trace(
            trace_id=draw(TEXT),
            question=draw(TEXT),
            answer=draw(st.none() | TEXT),
            earlier=tuple(draw(st.lists(TEXT, max_size=1))),
            sources=sources,
        ),
        families={source.source_id: draw(TEXT) for source in sources},
        claims=tuple(draw(verdict(n)) for n in range(draw(st.integers(0, 3)))),
        answer=draw(some(AnswerDecision)),
        versions=draw(some(Versions)),
        latency_seconds={"nli": (draw(SHARE), draw(SHARE)), "total": (draw(SHARE),)},
        repair=draw(st.none() | some(RepairOutcome)),
        content_hash=draw(st.none() | TEXT),
        extra=draw(OTHER_VERSION),
    )


@given(trace=some(Trace, sources=st.lists(some(Source, call_place=st.none())).map(tuple)))
def test_a_trace_comes_back_from_its_document_with_its_hash(trace: Trace) -> None:
    found = trace_from_document(json.loads(json.dumps(trace_document(trace))))

    assert found == trace and content_hash(found) == content_hash(trace)


def through_json(verification: Verification) -> Verification:
    return verification_from_document(json.loads(json.dumps(verdict_document(verification))))


@given(verification=verifications())
def test_a_verification_comes_back_from_its_document(verification: Verification) -> None:
    found = through_json(verification)

    assert found == verification
    assert json.dumps(verdict_document(found)) == json.dumps(verdict_document(verification))


@pytest.mark.parametrize("verification", [showcase(), hostile()], ids=["showcase", "hostile"])
def test_whole_verifications_keep_their_bytes(verification: Verification) -> None:
    text = json.dumps(verdict_document(verification))

    assert json.dumps(verdict_document(verification_from_document(json.loads(text)))) == text


def test_a_document_tells_the_state_and_no_document_makes_one() -> None:
    document = dict(verdict_document(showcase()))

    assert document["state"] == "block" and document["decision"] == "block"
    assert [(c["state"], c["decision"]) for c in document["claims"]] == [  # type: ignore[attr-defined]
        ("block", "block"),  # credited wrongly
        ("needs_review", "block"),  # a value that was not found
        ("allow", "allow"),
        ("block", "block"),  # a check shows otherwise
        ("allow", "allow"),
        ("needs_review", "block"),  # not confirmed
        ("allow", "allow"),
        ("needs_review", "block"),  # not judged
        ("allow", "allow"),  # set aside
    ]
    older = copy.deepcopy(document) | {"state": "allow"}
    for claim in older["claims"]:  # type: ignore[attr-defined]
        del claim["state"]
    assert verdict_document(verification_from_document(older)) == document


def test_a_claim_that_was_not_judged_keeps_the_places_of_its_values() -> None:
    trace = a_trace("10 mg, then 10 mg.", a_source("x"))
    values = tuple(
        ProtectedValue(text="10 mg", span=Span(start=s, end=s + 5), kind="dose", normalised="10 mg")
        for s in (0, 12)
    )
    unjudged = ClaimVerdict(
        claim=Claim(
            claim_id="t::c01",
            text=trace.answer or "",
            span=Span(start=0, end=18),
            said=trace.answer or "",
            protected_values=values,
        ),
        outcome=Unjudged(stage="", reason="too long"),
        verdict=VerdictLabel.UNJUDGED,
        decision=Decision.BLOCK,
        reasons=("Not judged: too long.",),
    )

    (found,) = through_json(
        replace(showcase(), trace=trace, families={"chart": "web"}, claims=(unjudged,))
    ).claims

    assert found == unjudged


def an_older_document() -> dict[str, object]:
    """A verdict as it was written before values had places and other sources' features were kept."""
    document = copy.deepcopy(dict(verdict_document(showcase())))
    for claim in document["claims"]:  # type: ignore[attr-defined]
        for later in ("unwritten_values", "rescoring", "checks", "citations"):
            claim.pop(later, None)
        if claim["stated_attribution"]:
            del claim["stated_attribution"]["also"]
    return document


def test_a_verdict_of_an_older_version_opens() -> None:
    found = verification_from_document(an_older_document())

    judged_claims = [c.outcome for c in found.claims if isinstance(c.outcome, Judged)]
    assert len(found.claims) == len(showcase().claims)
    assert judged_claims and not any(outcome.others_kept for outcome in judged_claims)
    assert [c.decision for c in found.claims] == [c.decision for c in showcase().claims]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("decision",), "maybe", "decision: expected one of allow, block, unavailable"),
        (("claims",), None, "claims: expected a list, found null"),
        (("claims", 1), 7, r"claims\[1\]: expected an object, found a number"),
        (("claims", 2, "verdict"), None, r"claims\[2\]\.verdict: expected text, found null"),
        (("claims", 0, "span"), [0], r"claims\[0\]\.span: expected 2 whole numbers"),
        (("claims", 0, "attribution"), None, r"claims\[0\]\.attribution: expected an object"),
        (("claims", 0, "nli", "relation"), HOSTILE, r"claims\[0\]\.nli\.relation: expected one of"),
        (("versions", "calibrator"), 3, r"versions\.calibrator: expected text, found a number"),
    ],
)
def test_a_document_that_is_no_verdict_says_where_and_quotes_nothing(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    document: JsonObject = copy.deepcopy(dict(verdict_document(showcase())))
    holder: object = document
    for step in path[:-1]:
        holder = holder[step]  # type: ignore[index]
    holder[path[-1]] = value  # type: ignore[index]

    with pytest.raises(BadRecord) as caught:
        verification_from_document(document)

    assert caught.match(message)
    assert HOSTILE not in str(caught.value)
