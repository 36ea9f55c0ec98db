"""What the evidence view is given: exact pieces, exact marks, and no claim looking better than it is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verdicts import (
    ANSWER,
    METADATA,
    METADATA_RAW,
    PATIENT,
    SEARCH,
    Said,
    a_verification,
    hostile,
    showcase,
    with_support,
)

from core.codec import verdict_document, verification_from_document
from core.records import (
    Decision,
    Judged,
    Source,
    Span,
    State,
    Trace,
    VerdictLabel,
    Verification,
    summarise,
)
from core.review.records import Judgement, Unfit
from pages.widgets.claim_view import RANKED_SENT
from pages.widgets.excerpts import SHOWN_WHOLE_CHARACTERS
from pages.widgets.palette import LOOKS, Kind, claim_counts, claim_kind
from pages.widgets.source_view import TEXTS_SENT_CHARACTERS
from pages.widgets.verdict_view import lay_out, unverified
from storage.records import ByPeople, VerdictCounts

View = dict[str, Any]
NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def stored(verification: Verification) -> Verification:
    """The verification, as a screen gets it: after JSON."""
    return verification_from_document(json.loads(json.dumps(verdict_document(verification))))


def laid_out(verification: Verification, **more: Any) -> View:
    """The view's data, after JSON, as the browser gets it."""
    view = lay_out(stored(verification), verification.trace, verified_at=NOW, **more)
    return cast(View, json.loads(json.dumps(view)))


def cut(text: str, mark: View) -> str:
    """What a browser would light: JavaScript slices UTF-16."""
    units = text.encode("utf-16-le")
    return units[mark["start"] * 2 : mark["end"] * 2].decode("utf-16-le")


def test_the_pieces_of_the_answer_join_to_the_answer() -> None:
    view = laid_out(showcase())

    assert "".join(piece["text"] for piece in view["pieces"]) == ANSWER


def test_every_claim_of_the_answer_opens_once_and_covers_what_it_said() -> None:
    verification = showcase()
    view = laid_out(verification)

    opened = [at for piece in view["pieces"] for at in piece["opens"]]
    assert sorted(opened) == list(range(len(verification.claims)))
    for at, verdict in enumerate(verification.claims):
        covered = "".join(p["text"] for p in view["pieces"] if at in p["claims"])
        assert covered == verdict.claim.said


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), max_size=6))
def test_claims_that_overlap_or_coincide_still_join_to_the_answer(
    spans: list[tuple[int, int]],
) -> None:
    verification = showcase()
    answer = "One 😀 answer, with words that several claims share at once."
    template = verification.claims[2]
    claims = tuple(
        dataclasses.replace(
            template,
            claim=dataclasses.replace(
                template.claim, span=Span(start=start, end=min(len(answer), start + length))
            ),
        )
        for start, length in spans
    )
    trace = dataclasses.replace(verification.trace, answer=answer)
    changed = dataclasses.replace(verification, trace=trace, claims=claims)

    pieces = cast(View, lay_out(changed, trace, verified_at=NOW))["pieces"]

    assert "".join(piece["text"] for piece in pieces) == answer
    for at, (start, length) in enumerate(spans):
        assert (
            "".join(p["text"] for p in pieces if at in p["claims"])
            == answer[start : start + length]
        )
        assert sum(at in p["opens"] for p in pieces) == 1


def test_the_pieces_of_a_claim_join_to_its_text_and_box_its_values() -> None:
    view = laid_out(showcase())

    for claim, verdict in zip(view["claims"], showcase().claims, strict=True):
        assert "".join(piece["text"] for piece in claim["pieces"]) == verdict.claim.text
    wrong = view["claims"][1]["pieces"]
    assert "".join(p["text"] for p in wrong if p.get("value") == "missing") == "25 mg"


def test_the_premise_and_its_values_are_lit_where_they_stand() -> None:
    verification = showcase()
    view = laid_out(verification)
    texts = {source.source_id: source.text for source in verification.trace.sources}

    lit = {
        claim["number"]: [
            (mark["kind"], cut(texts[claim["routed"]], mark))
            for mark in claim["marks"][claim["routed"]]
        ]
        for claim in view["claims"]
        if claim["routed"]
    }

    assert lit[2] == [
        ("premise", "- empagliflozin 10 mg once daily, started 2024-02-12"),
        ("nearest", "10 mg"),
    ]
    assert ("value", "2019") in lit[3]
    assert ("value", "4.6 mmol/L") in lit[5]


def test_raw_marks_are_the_bytes_that_the_readable_line_came_from() -> None:
    view = laid_out(showcase())

    marks = view["texts"][METADATA]["raw_marks"]["clin-0042::c07"]

    assert [cut(METADATA_RAW, mark) for mark in marks] == ['"Journal of Invented Cardiology"']


def test_the_credited_source_is_marked_for_a_conflation() -> None:
    claim = laid_out(showcase())["claims"][0]

    assert claim["kind"] == Kind.CONFLATION
    assert claim["stated"] == [PATIENT]
    assert claim["routed"] == SEARCH
    assert claim["instead"] == "Says it"


def test_a_page_opens_with_the_most_serious_claim() -> None:
    assert laid_out(showcase())["first"] == "clin-0042::c04"


def test_a_claim_that_is_blocked_never_looks_supported() -> None:
    blocked = [
        dataclasses.replace(each, decision=Decision.BLOCK) for each in stored(showcase()).claims
    ]

    assert Kind.SUPPORTED not in {claim_kind(each) for each in blocked}


def test_the_list_counts_claims_as_the_verdict_page_shows_them() -> None:
    unsure = with_support(showcase(), 6, probability=0.5, review_from=0.3)
    credited = showcase().claims[0]
    assert isinstance(credited.outcome, Judged)
    perhaps = dataclasses.replace(credited.outcome.attribution, probable=True)
    outcome = dataclasses.replace(credited.outcome, attribution=perhaps)
    probable = dataclasses.replace(
        showcase(),
        claims=(dataclasses.replace(credited, outcome=outcome), *showcase().claims[1:]),
    )
    for verification in (showcase(), hostile(), unsure, probable):
        summary = summarise(verification)
        counted = claim_counts(
            VerdictCounts(
                by_verdict=summary.by_verdict,
                set_aside=summary.set_aside,
                blocked=summary.blocked,
                conflations=summary.conflations,
            )
        )
        shown = {kind.value: 0 for kind in LOOKS} | {
            count["kind"]: count["n"] for count in laid_out(verification)["counts"]
        }
        assert {kind.value: n for kind, n in counted.items()} == {
            kind: n for kind, n in shown.items() if kind != Kind.ASIDE
        }


def by_people(verification: Verification, state: State, settled: Sequence[Judgement]) -> ByPeople:
    ids = [verdict.claim.claim_id for verdict in verification.claims]
    return ByPeople(
        state=state, final={key: (one, NOW) for key, one in zip(ids, settled, strict=False)}
    )


def test_what_people_settled_decides_the_state_and_the_verifiers_stays_beside_it() -> None:
    verification = showcase()
    passing = {"support": VerdictLabel.SUPPORTED, "source_id": "s"}
    settled = [Judgement(**passing), Judgement(support=Unfit.NOT_A_CLAIM, source_id=None)]

    view = laid_out(verification, people=by_people(verification, State.ALLOW, settled))

    alone = laid_out(verification)
    assert (alone["decision"]["kind"], view["decision"]["kind"]) == ("block", "allow")
    assert view["reasons"] == [
        "People settled 2 claims, of which 2 pass. The verifier alone says: blocked.",
        *alone["reasons"],
    ]
    assert [(each["kind"], each["headline"]) for each in view["claims"][:2]] == [
        ("supported", "People found it supported · 01 Mar 2026"),
        ("aside", "People found it no claim, or cut wrongly · 01 Mar 2026"),
    ]
    for each, before in zip(view["claims"][:2], alone["claims"], strict=False):
        said = f"The verifier alone: {before['mark']} {before['headline']}"
        assert each["reasons"] == [said, *before["reasons"]]
    assert view["claims"][2:] == alone["claims"][2:]
    counted = [each for each in view["claims"] if each["kind"] != "aside"]
    assert sum(each["n"] for each in view["counts"]) == len(counted) == len(view["claims"]) - 2


@pytest.mark.parametrize(
    ("support", "conflation", "word"),
    [
        (VerdictLabel.UNSUPPORTED, False, "not supported"),
        (VerdictLabel.NOT_ENOUGH_EVIDENCE, None, "not enough evidence"),
        (VerdictLabel.CONTRADICTED, False, "contradicted"),
        (VerdictLabel.SUPPORTED, True, "credited wrongly"),
    ],
)
def test_a_claim_that_people_found_wrong_is_opened(
    support: VerdictLabel, conflation: bool | None, word: str
) -> None:
    verification = showcase()
    right = Judgement(support=VerdictLabel.SUPPORTED, source_id="s")
    last = Judgement(support=support, source_id=None, conflation=conflation)
    settled = [right] * (len(verification.claims) - 1) + [last]

    view = laid_out(verification, people=by_people(verification, State.BLOCK, settled))

    wrong = view["claims"][-1]
    assert (view["first"], wrong["word"]) == (wrong["id"], word)


def test_texts_beyond_the_budget_come_when_they_are_opened() -> None:
    big = "word " * (SHOWN_WHOLE_CHARACTERS // 5)
    names = [f"s{n:02d}" for n in range(2 * TEXTS_SENT_CHARACTERS // SHOWN_WHOLE_CHARACTERS)]
    sources = tuple(
        Source(source_id=name, tool_name="search", text=f"{big} The dose is 10 mg.")
        for name in names
    )
    trace = Trace(trace_id="t", question="", answer="The dose is 10 mg.", sources=sources)
    verification = a_verification(
        trace,
        dict.fromkeys(names, "web"),
        [
            Said(
                said="The dose is 10 mg.",
                verdict=VerdictLabel.SUPPORTED,
                source="s07",
                premise="The dose is 10 mg.",
            )
        ],
    )

    at_first = laid_out(verification)["texts"]
    then = laid_out(verification, opened=[names[-1]])["texts"]

    assert "s07" in at_first and names[-1] not in at_first
    assert names[-1] in then
    assert len(json.dumps(at_first)) < 2 * TEXTS_SENT_CHARACTERS


def test_ten_thousand_sources_stay_a_page_that_a_browser_can_hold() -> None:
    sources = tuple(
        Source(source_id=f"s{n}", tool_name="search", text=f"Output {n}: the dose is {n} mg.")
        for n in range(10_000)
    )
    trace = Trace(trace_id="t", question="", answer="The dose is 7 mg.", sources=sources)
    verification = a_verification(
        trace,
        {source.source_id: "web" for source in sources},
        [
            Said(
                said="The dose is 7 mg.",
                verdict=VerdictLabel.SUPPORTED,
                source="s7",
                premise="the dose is 7 mg.",
            )
        ],
    )

    view = laid_out(verification)

    assert len(view["claims"][0]["ranking"]) == RANKED_SENT
    assert len(view["sources"]) == 10_000
    assert view["sources"][6]["name"] == "search #7"
    assert len(json.dumps(view)) < 8_000_000


def test_a_raw_output_of_another_version_of_the_trace_is_not_mapped() -> None:
    verification = showcase()
    newer = dataclasses.replace(
        verification.trace,
        sources=tuple(
            dataclasses.replace(source, text=source.text + " more")
            for source in verification.trace.sources
        ),
    )

    view = cast(View, lay_out(stored(verification), newer, verified_at=NOW))

    assert all(text["raw"] is None for text in view["texts"].values())


def test_a_trace_without_a_verdict_shows_its_answer_and_sources() -> None:
    trace = showcase().trace

    view = cast(View, lay_out(unverified(trace), trace, verified_at=None))

    assert view["decision"]["kind"] == "pending"
    assert "".join(piece["text"] for piece in view["pieces"]) == ANSWER
    assert len(view["sources"]) == len(trace.sources)


def test_a_trace_without_an_answer_says_so_by_null() -> None:
    trace = dataclasses.replace(showcase().trace, answer=None)

    view = cast(View, lay_out(unverified(trace), trace, verified_at=None))

    assert view["trace"]["answer"] is None
    assert view["pieces"] == []
