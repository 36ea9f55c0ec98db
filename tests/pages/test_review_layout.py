"""What a reviewer's browser is sent before the decision comes from the trace alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple, cast

from hypothesis import given
from hypothesis import strategies as st
from verdicts import ANSWER, HOSTILE, PATIENT, SEARCH, hostile, showcase

from core.codec import content_hash
from core.records import Span, Trace, VerdictLabel
from core.review.assignment import MOST_PASSAGES, passage_of
from core.review.items import Draft, Progress, ReviewItem
from core.review.records import Judgement, Passage, QueueReason
from pages.widgets.judgement_form import marking
from pages.widgets.presses import _told
from pages.widgets.review_layout import (
    SUPPORT_WORDS,
    answer_words,
    duration_words,
    lay_out_blind,
    lay_out_machine,
    marked,
    owner_words,
    progress_data,
    source_buttons,
)
from pages.widgets.shortcuts import Page
from pages.widgets.source_view import source_names
from storage.store import utc_now

TRACE = showcase().trace


class ClaimInAnswer(NamedTuple):
    text: str
    span: Span


CLAIM = ClaimInAnswer(text="The patient takes it.", span=Span(start=10, end=40))


def blind(trace: Trace, *opened: str) -> dict[str, object]:
    """The view's data before the decision."""
    return lay_out_blind(trace, CLAIM, page=Page.REVIEW, opened=opened)


def test_neither_the_trace_nor_how_it_was_made_is_named_before_the_decision() -> None:
    trace = Trace(
        trace_id="shuffled-014",
        question="?",
        answer=ANSWER,
        category="attribution_swapped",
        sources=TRACE.sources,
        extra={"slices": ["conflated-slice"]},
        notices=("made by swapping",),
    )

    sent = json.dumps(blind(trace))

    for word in ("shuffled-014", "attribution_swapped", "conflated-slice", "swapping"):
        assert word not in sent


def test_sources_come_in_the_order_of_the_calls_without_score_or_family() -> None:
    sources = cast(list[dict[str, object]], blind(TRACE)["sources"])

    assert [source["id"] for source in sources] == [each.source_id for each in TRACE.sources]
    assert not {"score", "family", "rank", "margin", "routed"} & set().union(*sources)


def test_all_that_a_tool_said_is_sent_or_can_be_fetched() -> None:
    long = "x" * 500_000
    first, *others = TRACE.sources
    trace = Trace(
        trace_id="t", question="?", answer=ANSWER, sources=(
            type(first)(source_id="long", tool_name="long", text=long), *others,
        ),
    )  # fmt: skip

    at_first = cast(dict[str, dict[str, object]], blind(trace)["texts"])
    opened = cast(dict[str, dict[str, object]], blind(trace, "long")["texts"])
    searched = cast(dict[str, dict[str, object]], blind(trace, "*")["texts"])

    assert "long" not in at_first
    assert opened["long"]["text"] == long
    assert set(searched) == {source.source_id for source in trace.sources}


@given(st.integers(0, len(ANSWER) + 20), st.integers(0, 60))
def test_the_answers_pieces_join_to_the_answer(start: int, length: int) -> None:
    claim = ClaimInAnswer(text="x", span=Span(start=start, end=start + length))
    pieces = cast(
        list[dict[str, object]],
        lay_out_blind(TRACE, claim, page=Page.REVIEW, opened=())["pieces"],
    )

    joined = "".join(str(piece["text"]) for piece in pieces)
    lit = "".join(str(piece["text"]) for piece in pieces if piece["lit"])
    assert lit in ANSWER[start : start + length]
    assert joined == ANSWER or start > len(ANSWER)


def test_the_verifiers_view_says_where_it_agrees_and_why_the_claim_was_shown() -> None:
    def told(place: int, *said: object) -> str:
        support, source, conflation = said
        view = lay_out_machine(
            showcase(),
            TRACE,
            showcase().claims[place].claim.claim_id,
            said=Judgement(support=support, source_id=source, conflation=conflation),  # type: ignore[arg-type]
            reason=QueueReason.AUDIT,
            verified_at=utc_now(),
        )
        assert view is not None and "drawn at random" in str(view["here"])
        return str(view["agrees"])

    supported, contradicted = VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED
    passes, credited_wrongly, says_otherwise = 2, 0, 3
    assert told(passes, supported, PATIENT, False) == (
        "It agrees with you on support, source and credit."
    )
    assert told(passes, supported, SEARCH, True) == (
        "It agrees with you on support, and sees source and credit differently."
    )
    assert told(passes, contradicted, PATIENT, None) == (
        "It agrees with you on source, and sees support differently. It says nothing on credit."
    )
    # Beside a wrong credit the credit is told, whatever else is the same.
    assert told(credited_wrongly, supported, SEARCH, False) == (
        "It agrees with you on support and source, and sees credit differently."
    )
    assert told(credited_wrongly, supported, PATIENT, True) == (
        "It agrees with you on support and credit, and sees source differently."
    )
    assert told(says_otherwise, contradicted, None, False) == (
        "It agrees with you on support. It says nothing on source and credit."
    )
    for left_to_a_person in (1, 5, 7):  # not confirmed, or not judged
        assert told(left_to_a_person, supported, PATIENT, False) == (
            "It leaves this claim to a person."
        )


def test_a_source_has_one_name_on_review_and_on_verdict() -> None:
    (button,) = source_buttons(hostile().trace)
    two = replace(TRACE, sources=TRACE.sources[:2])
    names = list(source_names(two.sources).values())

    assert button.source_id == f"{HOSTILE}#1"
    assert HOSTILE.startswith(button.words.removesuffix("…"))
    assert [each.words for each in source_buttons(two)] == names
    assert [owner_words(each.source_id, source_names(two.sources)) for each in two.sources] == names


def test_a_judgement_is_said_in_words() -> None:
    conflated = Judgement(support=VerdictLabel.SUPPORTED, source_id=SEARCH, conflation=True)
    nothing = Judgement(support=VerdictLabel.NOT_ENOUGH_EVIDENCE, source_id=None)

    assert answer_words(conflated, source_names(TRACE.sources)) == (
        "Supported · search_pubmed_key_words #1 · credited to another source"
    )
    assert answer_words(nothing, {}) == "Not enough evidence · no source"
    assert answer_words(replace(nothing, conflation=False), {}) == "Not enough evidence · no source"
    assert len(set(SUPPORT_WORDS.values())) == 5


def test_of_the_passages_of_a_packet_only_those_that_stand_in_the_source_are_marked() -> None:
    first = TRACE.sources[0]
    there = passage_of(first.source_id, first.text, 0, 4)
    foreign = Passage(source_id="of another trace", start=0, end=4, sha256=there.sha256)
    moved = [Passage(source_id=first.source_id, start=s, end=e, sha256=there.sha256)
             for s, e in ((1, 5), (-4, 0), (0, 10**9))]  # fmt: skip

    (laid,) = marked((foreign, there, *moved), TRACE, "passage", "A")

    assert (laid["source"], laid["text"]) == (first.source_id, first.text[:4])


def test_a_passage_beyond_the_limit_is_refused_when_it_is_marked_and_another_may_be_unmarked() -> (
    None
):
    first, draft = TRACE.sources[0], Draft()

    def marked_to(draft: Draft, end: int) -> Draft:
        return marking(draft, said=json.dumps([first.source_id, 0, end]), trace=TRACE)

    for end in range(1, MOST_PASSAGES + 2):
        draft = marked_to(draft, end)

    assert len(draft.passages) == MOST_PASSAGES
    assert any(f"{MOST_PASSAGES} passages are marked" in words for _, words in _told())
    assert len(marked_to(draft, 1).passages) == MOST_PASSAGES - 1


def test_progress_is_said_as_a_plan() -> None:
    item = ReviewItem(
        assignment_id=1,
        claim_key=1,
        claim_id="c",
        text="A claim.",
        span=Span(start=0, end=8),
        trace_id="t",
        content_hash=content_hash(TRACE),
        slot=1,
        lease_until=utc_now(),
        draft=None,
        position=12,
        total=40,
    )
    paced = Progress(
        mine_done=11, mine_open=1, team_done=3, total=60, stuck=0, seconds_per_claim=18.0
    )
    unpaced = Progress(
        mine_done=0, mine_open=1, team_done=0, total=60, stuck=0, seconds_per_claim=None
    )

    assert progress_data(item, paced)["words"] == "12 of 40 · about 9 minutes"
    assert progress_data(item, unpaced)["words"] == "12 of 40"
    assert duration_words(20) == "1 minute"
    assert duration_words(3 * 3600) == "3 hours"
