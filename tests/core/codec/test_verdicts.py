"""A verdict's JSON and its record say the same: both ways, whatever is in them."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest
from builders import a_source, a_trace
from hypothesis import given, settings
from hypothesis import strategies as st
from verdicts import HOSTILE, hostile, showcase

from core.codec import verdict_document, verification_from_document
from core.errors import BadRecord
from core.records import AlignedToken as Token
from core.records import (
    Alignment,
    AnswerDecision,
    Attribution,
    AttributionStatus,
    Check,
    CheckedValue,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    CitedPlace,
    Claim,
    ClaimType,
    ClaimVerdict,
    Decision,
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
    SetAside,
    Source,
    SourceStatus,
    Span,
    StatedAttribution,
    Support,
    Together,
    Trace,
    Unjudged,
    VerdictLabel,
    Verification,
    Versions,
    WholePoint,
)

TEXT = st.text(max_size=12)
SHARE = st.integers(0, 10_000).map(lambda n: n / 10_000)
SPAN = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(
    lambda pair: Span(start=pair[0], end=pair[0] + pair[1])
)
FAMILY = st.sampled_from(["patient_record", "literature", "web"])
TOGETHER = st.builds(
    Together,
    weakest=SHARE,
    asked=st.builds(
        WholePoint,
        threshold=SHARE,
        bad=st.integers(0, 9),
        bad_passed=st.integers(0, 9),
        good=st.integers(0, 9),
        good_passed=st.integers(0, 9),
    ),
)
PROBABILITIES = st.builds(Probabilities, entailment=SHARE, neutral=SHARE, contradiction=SHARE)
PLACE = st.builds(FactPlace, source_id=TEXT, span=st.none() | SPAN, path=st.none() | TEXT)
PLACES = st.lists(PLACE, max_size=2).map(tuple)
CHECK = st.builds(
    Check,
    check=st.sampled_from(["value", "date", "status", "subject"]),
    outcome=st.sampled_from(list(Outcome)),
    reason=TEXT,
    veto=st.booleans(),
    claim_span=st.none() | SPAN,
    facts=PLACES,
    derivation=st.none()
    | st.builds(
        Derivation,
        operation=TEXT,
        inputs=PLACES,
        result=TEXT,
        tolerance=st.none() | TEXT,
        text=TEXT,
    ),
)
CITED_PLACE = st.builds(CitedPlace, source_id=TEXT, span=st.none() | SPAN)
CITATION = st.builds(
    CitationFinding,
    text=TEXT,
    span=SPAN,
    covers=SPAN,
    kind=st.sampled_from(list(CitationKind)),
    outcome=st.sampled_from(list(CitationOutcome)),
    reason=TEXT,
    resolves_to=st.none() | CITED_PLACE,
    better=st.none() | CITED_PLACE,
    instead=st.none() | TEXT,
)
VALUE = st.builds(
    ProtectedValue,
    text=TEXT,
    span=SPAN,
    kind=st.sampled_from(["dose", "date", "name"]),
    normalised=TEXT,
    identity=st.booleans(),
)


@st.composite
def judged(draw: st.DrawFn) -> Judged:
    """Measurements as the stages leave them: a value that settles nothing is a missing one."""
    probabilities = draw(PROBABILITIES)
    written = draw(
        st.lists(st.builds(CheckedValue, value=VALUE, present=st.booleans()), max_size=2)
    )
    unwritten = draw(
        st.lists(
            st.builds(
                CheckedValue,
                value=VALUE,
                present=st.just(False),
                nearest=st.none() | TEXT,
                settles=st.just(False),
            ),
            max_size=2,
        )
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
    return Judged(
        route=Route(
            source_id=draw(TEXT),
            tool_name=draw(TEXT),
            family=draw(FAMILY),
            score=draw(SHARE),
            margin=draw(SHARE),
            ranking=tuple(
                draw(
                    st.lists(
                        st.builds(
                            RankedSource,
                            source_id=TEXT,
                            score=SHARE,
                            probabilities=st.none() | PROBABILITIES,
                        ),
                        max_size=3,
                    )
                )
            ),
        ),
        premise=Premise(
            source_id=draw(TEXT),
            text=draw(TEXT),
            spans=tuple(draw(st.lists(SPAN, max_size=2))),
            truncated=draw(st.booleans()),
        ),
        entailment=Entailment(relation=probabilities.relation, probabilities=probabilities),
        alignment=Alignment(
            tokens=tuple(
                draw(
                    st.lists(
                        st.builds(Token, text=TEXT, span=SPAN, score=SHARE, weak=st.booleans()),
                        max_size=2,
                    )
                )
            ),
            supported_token_ratio=draw(SHARE),
        ),
        literals=LiteralCheck(
            values=(*written, *unwritten),
            identity_mismatches=tuple(draw(st.lists(TEXT, max_size=2))),
            term_overlap=overlap,
            relation=draw(st.sampled_from(list(Relation))),
            rescued=draw(st.booleans()),
        ),
        features=features,
        support=Support(
            probability=draw(SHARE),
            threshold=draw(SHARE),
            review_from=draw(st.none() | SHARE),
            threshold_kind=draw(st.none() | FAMILY),
            together=draw(st.none() | TOGETHER),
        ),
        attribution=draw(
            st.builds(
                Attribution,
                status=st.sampled_from(list(AttributionStatus)),
                stated_family=st.none() | FAMILY,
                routed_family=st.none() | FAMILY,
                reason=TEXT,
            )
        ),
        others=tuple(
            draw(
                st.lists(
                    st.builds(OtherSource, source_id=TEXT, features=st.just(other)), max_size=2
                )
            )
        ),
        checks=tuple(draw(st.lists(CHECK, max_size=2))),
    )


@st.composite
def verdict(draw: st.DrawFn, number: int) -> ClaimVerdict:
    """One claim of any kind; what a document does not tell (a stage's name) is left empty."""
    outcome = draw(
        judged()
        | st.builds(Unjudged, stage=st.just(""), reason=TEXT)
        | st.builds(SetAside, reason=TEXT)
    )
    label = draw(st.sampled_from([v for v in VerdictLabel if v is not VerdictLabel.UNJUDGED]))
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
            span=draw(SPAN),
            said=draw(TEXT),
            claim_type=ClaimType.FACTUAL if factual else ClaimType.ADVICE,
            stated=draw(
                st.none()
                | st.builds(
                    StatedAttribution,
                    text=TEXT,
                    span=SPAN,
                    family=st.none() | FAMILY,
                    source_id=st.none() | TEXT,
                    also=st.lists(TEXT, max_size=2).map(tuple),
                )
            ),
            protected_values=tuple(c.value for c in outcome.literals.values)
            if isinstance(outcome, Judged)
            else (),
            patient_specific=draw(st.booleans()) if isinstance(outcome, Judged) else False,
        ),
        outcome=outcome,
        verdict=label if factual else None,
        decision=draw(st.sampled_from([Decision.ALLOW, Decision.BLOCK])),
        reasons=reasons,
        citations=tuple(draw(st.lists(CITATION, max_size=2))),
        extra=draw(st.just({}) | st.just({"from_another_version": [1, {"a": None}]})),
    )


@st.composite
def verifications(draw: st.DrawFn) -> Verification:
    """Any verification, as far as a document tells it."""
    sources = tuple(
        Source(
            source_id=f"s{n}",
            tool_name=draw(TEXT),
            text=draw(TEXT),
            status=draw(st.sampled_from(list(SourceStatus))),
        )
        for n in range(draw(st.integers(0, 3)))
    )
    return Verification(
        trace=Trace(
            trace_id=draw(TEXT),
            question=draw(TEXT),
            answer=draw(st.none() | TEXT),
            sources=sources,
        ),
        families={source.source_id: draw(FAMILY) for source in sources},
        claims=tuple(draw(verdict(n)) for n in range(draw(st.integers(0, 3)))),
        answer=AnswerDecision(
            decision=draw(st.sampled_from(list(Decision))),
            reasons=tuple(draw(st.lists(TEXT, max_size=2))),
        ),
        versions=draw(
            st.builds(
                Versions,
                pipeline=TEXT,
                config_sha256=TEXT,
                embedder=TEXT,
                pair_reader=TEXT,
                precision=TEXT,
                calibrator=TEXT,
            )
        ),
        latency_seconds={"nli": (draw(SHARE), draw(SHARE)), "total": (draw(SHARE),)},
        content_hash=draw(st.none() | TEXT),
        extra=draw(st.just({}) | st.just({"from_another_version": "kept"})),
    )


def through_json(verification: Verification) -> Verification:
    return verification_from_document(json.loads(json.dumps(verdict_document(verification))))


@given(verification=verifications())
@settings(max_examples=150, deadline=None)
def test_a_verification_comes_back_from_its_document(verification: Verification) -> None:
    assert through_json(verification) == verification


@given(verification=verifications())
@settings(max_examples=50, deadline=None)
def test_the_document_of_what_was_read_is_the_same_bytes(verification: Verification) -> None:
    text = json.dumps(verdict_document(verification))

    assert json.dumps(verdict_document(verification_from_document(json.loads(text)))) == text


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
