"""Planted credits: whole answers, facts by labels or by exact values, and twins that are really right."""

from __future__ import annotations

import json

import pytest
from builders import a_source, a_trace
from tables import cases

from core.attribution.families import load_families
from core.errors import InputError
from core.evaluation.origins import origins_of, swaps
from core.evaluation.packets import PacketRow, row_from_json
from core.evaluation.planted_facts import by_trace, labelled_facts, valued_facts
from core.evaluation.planting import Planted, plant, replaced, with_answer
from core.records import Trace

FAMILIES = load_families()
CHART = a_source(
    "name: WHITLOCK Jerome\nHbA1c 8.1 % on 2025-06-11\nmetformin 1,000 mg twice daily\nweight 83.4 kg",
    "fetch_patient#0",
    "fetch_patient",
)
BROTHER = a_source("name: WHITLOCK Julian\nHbA1c 6.4 %", "fetch_patient#1", "fetch_patient")
PAPERS = a_source(
    "PMID: 91000001\nTitle: Walking and sugar: a cohort\nAbstract: 4,312 adults walked for 24 months and "
    "glucose fell.\n\nPMID: 91000002\nTitle: Sleep and weight: a trial\nAbstract: 615 adults slept longer.",
    "search_pubmed#2",
    "search_pubmed",
)
FILE = a_source(
    "retries: 7\ntimeout_ms: 2500",
    "read_file#3",
    "read_file",
    arguments='{"path": "etc/app/client.yaml"}',
)
OTHER_FILE = a_source(
    "threads = 64", "read_file#4", "read_file", arguments='{"path": "etc/app/server.toml"}'
)
SENTENCES = (
    "His HbA1c was 8.1 % in June.",
    "Among 4,312 adults who walked for 24 months glucose fell.",
    "PMID 91000002 followed people who slept longer.",
    "The client gives up after 2500 milliseconds.",
    "He should sleep well.",
)
ANSWER = " ".join(SENTENCES)
TRACE = a_trace(ANSWER, CHART, BROTHER, PAPERS, FILE, OTHER_FILE)


def labelled(number: int, gold: str | None, evidence: str = "", **more: object) -> PacketRow:
    """A label of one sentence of the answer."""
    start = ANSWER.index(SENTENCES[number])
    return row_from_json(
        {
            "claim_id": f"t1-{number}",
            "trace_id": "t1",
            "claim": SENTENCES[number],
            "sources": [{"source_id": "s", "tool_name": "t", "text": "x"}],
            "label": "supported" if gold else "unsupported",
            "relation": "entailment" if gold else "neutral",
            "gold_source_ids": [gold] if gold else [],
            "span": [start, start + len(SENTENCES[number])],
            "evidence": evidence,
            **more,
        }
    )


LABELS = [
    labelled(0, "fetch_patient#0", values=["8.1 %"]),
    labelled(1, "search_pubmed#2", "4,312 adults walked for 24 months", values=["4,312", "24"]),
    labelled(
        2,
        "search_pubmed#2",
        "615 adults slept longer",
        stated_attribution="PMID 91000002",
        values=[],
    ),
    labelled(3, "read_file#3", values=["2500"]),
    labelled(4, None),
    # What other claims of the answer rest on may be credited as well.
    labelled(4, "fetch_patient#1", confidence="low"),
    labelled(4, "read_file#4", how="absence"),
]


def planted(labels: list[PacketRow] | None = LABELS, trace: Trace = TRACE) -> list[Planted]:
    return plant([trace], None if labels is None else {"t1": labels}, FAMILIES, count=40)


def test_a_probe_and_its_twin_are_the_whole_answer_and_differ_in_one_sentence() -> None:
    made = planted()

    assert len(made) >= 4
    for one in made:
        for answer, sentence in (
            (one.wrong_answer, one.wrong_sentence),
            (one.right_answer, one.right_sentence),
        ):
            said = sentence.cut(answer)
            rest = answer[: sentence.start] + answer[sentence.end :]
            assert any(rest == ANSWER.replace(whole, "", 1) for whole in SENTENCES)
            assert said[-1] == "."
        assert one.wrong_answer != one.right_answer
        assert one.credited.removeprefix("the ").casefold() in one.wrong_answer.casefold()


def test_facts_are_those_that_the_labels_give_to_one_source_and_never_the_verifiers() -> None:
    origins = origins_of(TRACE, FAMILIES)

    found = list(labelled_facts(TRACE, LABELS, origins))

    told = {(fact.sentence.cut(ANSWER), fact.origin.source_id, fact.origin.part) for fact in found}
    assert told == {
        (SENTENCES[0], "fetch_patient#0", None),
        (SENTENCES[1], "search_pubmed#2", None),
        (SENTENCES[1], "search_pubmed#2", "91000001"),
        (SENTENCES[2], "search_pubmed#2", None),
        (SENTENCES[2], "search_pubmed#2", "91000002"),
        (SENTENCES[3], "read_file#3", None),
    }


def test_both_directions_other_papers_other_patients_and_other_files_are_planted() -> None:
    origins = origins_of(TRACE, FAMILIES)

    kinds = {
        (swap.kind, swap.direction)
        for fact in labelled_facts(TRACE, LABELS, origins)
        for swap in swaps(fact.origin, origins, FAMILIES)
    }

    assert kinds >= {
        ("other family", "patient_record → literature"),
        ("other family", "literature → patient_record"),
        ("other paper", "literature → literature"),
        ("other patient", "patient_record → patient_record"),
        ("other file", "other → other"),
    }


def test_a_twin_never_credits_a_place_that_lacks_the_labelled_value() -> None:
    for one in planted(LABELS[:2]):
        right = one.right_sentence.cut(one.right_answer)
        wrong = one.wrong_sentence.cut(one.wrong_answer)
        assert ("Julian" in right, "91000002" in right) == (False, False)
        assert ("Jerome" in wrong, "91000001" in wrong) == (False, False)


def test_a_place_that_holds_all_the_values_is_never_credited_as_wrong() -> None:
    same = a_source(CHART.text.replace("Jerome", "Julian"), "fetch_patient#1", "fetch_patient")
    both = a_trace(ANSWER, CHART, same, PAPERS)

    assert not [one for one in planted(LABELS[:2], both) if one.kind == "other patient"]


def test_the_writers_own_credit_is_replaced_and_the_twin_is_the_captured_answer() -> None:
    (own,) = [one for one in planted() if one.form == "replaced"]

    assert own.right_answer == ANSWER
    assert "PMID 91000002" not in own.wrong_answer


def test_without_labels_exact_values_choose_the_facts() -> None:
    origins = origins_of(TRACE, FAMILIES)

    found = {
        (fact.sentence.cut(ANSWER), fact.origin.source_id) for fact in valued_facts(TRACE, origins)
    }

    assert found == set()  # no sentence has two telling values: nothing is guessed
    told = a_trace("In 4,312 adults of 2025 glucose fell; 615 adults slept longer.", CHART, PAPERS)
    holding = list(valued_facts(told, origins_of(told, FAMILIES)))
    assert holding == []  # 2025 is the chart's, the others are of two papers
    clear = a_trace(
        "It was 83.4 kg on 2025-06-11, with 1,000 mg.".replace("-06-11", ""), CHART, PAPERS
    )
    (fact,) = valued_facts(clear, origins_of(clear, FAMILIES))
    assert fact.origin.source_id == "fetch_patient#0"


def test_the_same_seed_gives_the_same_probes_and_no_sentence_is_used_twice() -> None:
    made = planted()

    assert made == planted()
    assert len({one.wrong_answer for one in made}) == len(made)
    assert len({(one.trace_id, one.right_sentence.start) for one in made}) == len(made)


def test_rows_that_are_held_out_choose_nothing() -> None:
    apart = labelled(0, "fetch_patient#0", split="test")

    assert by_trace([apart, LABELS[1]]) == {"t1": [LABELS[1]]}


def test_an_answer_with_one_source_has_nothing_to_be_credited_to_and_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to plant"):
        planted(LABELS[:1], a_trace(ANSWER, CHART))


def test_captured_citations_do_not_point_into_another_answer() -> None:
    other = with_answer(TRACE, "Something else.", "probe-0001")

    assert (other.trace_id, other.answer, other.citations) == ("probe-0001", "Something else.", ())
    assert other.sources == TRACE.sources


def test_documents_are_named_by_file_or_site_and_data_urls_by_nothing() -> None:
    def named(asked: object) -> str | None:
        source = a_source("x", "s", "fetch", arguments=json.dumps(asked))
        return origins_of(a_trace("", source), FAMILIES)[0].document

    assert named({"path": "a/b/config.toml"}) == "config.toml"
    assert named({"url": "https://docs.example/a?b"}) == "docs.example"
    assert named({"url": "data:text/html,x"}) is None
    assert named(["no", "object"]) is None


@cases
def test_a_writers_credit_is_replaced_only_where_its_form_is_known(
    said: str, credit: str, put: str | None
) -> None:
    paper, chart = origins_of(a_trace("", PAPERS, CHART), FAMILIES)[::3]
    swap = next(iter(swaps(paper, (chart,), FAMILIES)))

    assert replaced(said, credit, swap) == put
