"""What a reviewer holds stays what it was, however a later verification cuts the answer."""

from __future__ import annotations

from dataclasses import replace

from reviewing import SENTENCES, SUPPORTED, UNSUPPORTED, a_reviewed_trace, an_office
from verdicts import fill

from core.records import Verification
from storage.store import SqlStore


def cut_otherwise(first: Verification) -> Verification:
    """The same trace by a later version of the pipeline: whole sentence pairs, under the same ids."""
    pairs = [
        (f"{one[0]} {two[0]}", two[1], two[2])
        for one, two in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)
    ]
    again = a_reviewed_trace(1, pairs)
    assert again.trace == first.trace
    return replace(again, versions=replace(again.versions, pipeline="a later one"))


def test_a_claim_in_hand_keeps_its_words_when_the_answer_is_cut_otherwise(store: SqlStore) -> None:
    first = a_reviewed_trace(1)
    office = an_office(store, verifications=[first], reads_per_claim=2)
    before = office.desk("Ada").next_item()
    assert before is not None

    fill(office.store, cut_otherwise(first))
    after = office.desk("Ada").next_item()

    assert after is not None
    assert after.assignment_id == before.assignment_id
    assert (after.text, after.span) == (before.text, before.span)
    assert after.text in {sentence for sentence, _, _ in SENTENCES}
    assert after.span.cut(first.trace.answer or "") == after.text


def test_a_tie_is_on_the_words_that_both_have_read(store: SqlStore) -> None:
    first = a_reviewed_trace(1)
    office = an_office(store, verifications=[first], reads_per_claim=2)
    read = office.desk("Ada").next_item()
    assert read is not None
    office.decide("Ada", read, SUPPORTED)
    office.read("Ben", UNSUPPORTED)

    fill(office.store, cut_otherwise(first))
    tie = office.desk("Dora").next_disagreement()

    assert tie is not None
    assert (tie.claim_key, tie.text, tie.span) == (read.claim_key, read.text, read.span)
