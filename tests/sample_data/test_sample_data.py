"""The sample data is what its README says: invented, exact, varied, and the files that were recorded."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "sample_data"
FILES = ("traces.jsonl", "gold.jsonl", "packet.jsonl")
MONTHS = (
    "January February March April May June July August September October November December".split()
)
Rows = list[dict[str, Any]]


def rows(path: Path) -> Rows:
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def values(text: str) -> set[float]:
    """The numbers of a text: 1,204 is 1204, 05 is 5, July is 7; HbA1c and SGLT2 hold none."""
    for number, month in enumerate(MONTHS, start=1):
        text = re.sub(rf"\b{month[:3]}(?:{month[3:]})?\b", str(number), text)
    found = re.findall(r"(?<![A-Za-z\d])\d+(?:,\d{3})*(?:\.\d+)?", text)
    return {float(number.replace(",", "")) for number in found}


@pytest.fixture(scope="module")
def traces() -> Rows:
    return rows(FOLDER / "traces.jsonl")


@pytest.fixture(scope="module")
def gold() -> Rows:
    return rows(FOLDER / "gold.jsonl")


@pytest.fixture(scope="module")
def packet() -> Rows:
    return rows(FOLDER / "packet.jsonl")


def sources_of(trace: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The outputs of a trace by source id."""
    return {output["source_id"]: output for output in trace["full_tool_outputs"]}


def test_the_files_are_those_whose_digests_are_recorded() -> None:
    recorded = (FOLDER / "SHA256SUMS").read_text("utf-8").splitlines()
    digests = {name: digest for digest, name in (line.split("  ") for line in recorded)}

    assert set(digests) == {
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*.jsonl*")
        if path.name != "OPENED.jsonl"
    }
    for name, digest in digests.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest, name


def test_ids_are_unique(traces: Rows, gold: Rows) -> None:
    assert len({trace["question_id"] for trace in traces}) == len(traces)
    assert len({row["claim_id"] for row in gold}) == len(gold)
    for trace in traces:
        assert len(sources_of(trace)) == len(trace["full_tool_outputs"]), trace["question_id"]


def test_every_said_and_every_stated_attribution_stands_at_its_offsets(
    traces: Rows, gold: Rows
) -> None:
    answers = {t["question_id"]: t["final_reply_to_user"] for t in traces}

    for row in gold:
        answer, stated = answers[row["trace_id"]], row["stated_attribution"]
        assert answer[row["start"] : row["end"]] == row["said"], row["claim_id"]
        assert row["said"].strip() == row["said"] != ""
        if stated is not None:
            assert answer[stated["start"] : stated["end"]] == stated["text"], row["claim_id"]


def test_claims_of_one_answer_do_not_overlap(traces: Rows, gold: Rows) -> None:
    by_trace: dict[str, Rows] = {}
    for row in gold:
        by_trace.setdefault(row["trace_id"], []).append(row)

    for claims in by_trace.values():
        for first, second in zip(claims, claims[1:], strict=False):
            assert first["end"] <= second["start"], (first["claim_id"], second["claim_id"])


def test_every_number_of_a_supported_claim_stands_in_each_of_its_gold_sources(
    traces: Rows, gold: Rows
) -> None:
    outputs = {t["question_id"]: sources_of(t) for t in traces}
    supported = [r for r in gold if r["label"] == "supported"]

    assert len(supported) > 200
    for row in supported:
        assert row["gold_source_ids"], row["claim_id"]
        if "handwritten" in row["slices"] and len(row["gold_source_ids"]) > 1:
            continue  # said of two sources together: no single one holds all of it
        for source_id in row["gold_source_ids"]:
            text = outputs[row["trace_id"]][source_id]["text"]
            assert values(row["claim"]) <= values(text), (row["claim_id"], source_id)


def test_a_wrong_number_or_date_stands_in_no_source_of_its_trace(traces: Rows, gold: Rows) -> None:
    by_id = {t["question_id"]: t for t in traces}
    wrong = [row for row in gold if row["defect"] in ("wrong_number", "wrong_date")]

    assert len(wrong) >= 10
    for row in wrong:
        outputs = by_id[row["trace_id"]]["full_tool_outputs"]
        everything = set().union(*(values(output["text"]) for output in outputs))
        assert values(row["claim"]) - everything, row["claim_id"]


def test_labels_defects_and_attribution_agree(traces: Rows, gold: Rows) -> None:
    outputs = {t["question_id"]: sources_of(t) for t in traces}
    label_of = {
        "wrong_number": "unsupported", "wrong_date": "unsupported", "unsupported": "unsupported",
        "dropped_qualifier": "unsupported", "wrong_patient": "unsupported",
        "contradicted": "contradicted", "dropped_negation": "contradicted",
        "not_enough_evidence": "not_enough_evidence", "beyond_cut": "not_enough_evidence",
        "from_nothing": "not_enough_evidence", "wrong_source": "supported",
        "wrong_article": "supported",
    }  # fmt: skip

    for row in gold:
        swap = row["defect"] in ("wrong_source", "wrong_article")
        assert (row["label"] is None) == (row["claim_type"] != "factual"), row["claim_id"]
        assert (row["gold_attribution"] == "conflation") == swap, row["claim_id"]
        assert set(row["gold_source_ids"]) <= set(outputs[row["trace_id"]]), row["claim_id"]
        if row["defect"] is not None:
            assert row["label"] == label_of[row["defect"]], row["claim_id"]
        elif row["label"] is not None:
            assert row["label"] == "supported", row["claim_id"]
        if row["label"] == "not_enough_evidence":
            assert row["gold_source_ids"] == [], row["claim_id"]
        if row["gold_attribution"] is not None:
            assert row["stated_attribution"] is not None, row["claim_id"]


def test_failed_and_empty_outputs_are_never_the_source_of_a_claim(traces: Rows, gold: Rows) -> None:
    outputs = {t["question_id"]: sources_of(t) for t in traces}

    for row in gold:
        for source_id in row["gold_source_ids"]:
            output = outputs[row["trace_id"]][source_id]
            assert not output.get("is_error"), row["claim_id"]
            assert len(output["text"]) > 150, row["claim_id"]


def test_packets_hold_the_gold_claims_with_every_source_that_can_be_evidence(
    traces: Rows, gold: Rows, packet: Rows
) -> None:
    texts = {t["question_id"]: {s: o["text"] for s, o in sources_of(t).items()} for t in traces}
    judged = {row["claim_id"]: row for row in gold if row["label"] is not None}

    missing = set(judged) - {row["claim_id"] for row in packet}

    assert {judged[claim]["trace_id"] for claim in missing} <= {
        row["trace_id"] for row in gold if "no_evidence" in row["slices"]
    }
    for row in packet:
        assert row["label"] == judged[row["claim_id"]]["label"]
        assert row["sources"], row["claim_id"]
        for source in row["sources"]:
            assert texts[row["trace_id"]][source["source_id"]] == source["text"]
        assert set(row["gold_source_ids"]) <= {source["source_id"] for source in row["sources"]}


def test_no_two_answers_share_more_than_a_small_part_of_their_wording(
    traces: Rows, gold: Rows
) -> None:
    answers = [trace["final_reply_to_user"] for trace in traces]
    grams = []
    for answer in answers:
        words = answer.lower().split()
        grams.append({tuple(words[n : n + 8]) for n in range(len(words) - 7)})

    shared = [
        len(first & second) / min(len(first), len(second))
        for first, second in combinations([g for g in grams if len(g) >= 20], 2)
    ]

    assert max(shared) < 0.35
    assert sum(shared) / len(shared) < 0.005


def test_the_first_trace_credits_the_chart_with_what_only_the_abstract_says(
    traces: Rows, gold: Rows
) -> None:
    said = "According to the patient's chart, empagliflozin reduced a mortality endpoint."
    chart, abstract, metadata = (output["text"] for output in traces[0]["full_tool_outputs"])
    swapped = [row for row in gold if row["trace_id"] == "sample-001" and row["defect"]]

    assert said in traces[0]["final_reply_to_user"]
    assert "mortality endpoint" in abstract
    assert "mortality" not in chart + metadata
    assert [row["gold_attribution"] for row in swapped] == ["conflation"]
    assert 4 <= sum(1 for r in gold if r["trace_id"] == "sample-001" and r["label"]) <= 6


def test_readme_counts_are_the_counts_of_the_files(traces: Rows, gold: Rows, packet: Rows) -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    stated = {name: int(n) for name, n in re.findall(r"^\| `(\w+)` \| (\d+) \|", readme, re.M)}
    blemished = {row["trace_id"] for row in gold if row["defect"]}
    by_slice: dict[str, set[str]] = {}
    for row in gold:
        for name in row["slices"]:
            by_slice.setdefault(name, set()).add(row["trace_id"])
    counted = Counter(
        {
            "traces": len(traces),
            "correct_answers": len(traces) - len(blemished),
            "gold_rows": len(gold),
            "packet_rows": len(packet),
            "set_aside_rows": sum(1 for row in gold if row["label"] is None),
        }
    )
    counted.update(Counter(row["label"] for row in gold if row["label"]))
    counted.update(
        Counter(f"defect_{row['defect']}" for row in gold if row["defect"])
        + Counter({f"slice_{name}": len(ids) for name, ids in by_slice.items()})
    )

    assert len(stated) >= 40
    assert stated == {name: counted[name] for name in stated}


def test_there_are_enough_traces_of_every_shape_and_enough_correct_answers(
    traces: Rows, gold: Rows
) -> None:
    slices = Counter(s for s, _ in {(s, r["trace_id"]) for r in gold for s in r["slices"]})
    blemished = {row["trace_id"] for row in gold if row["defect"]}
    shapes = ("prose", "paragraphs", "bullets", "numbered", "table", "label_lines", "headings",
              "mixed", "short")  # fmt: skip

    assert len(traces) >= 60
    assert 0.40 <= 1 - len(blemished) / len(traces) <= 0.50
    for shape in shapes:
        assert slices[f"answer_{shape}"] >= 5, shape
    for name in (
        "single_source", "chart_plus_literature", "same_topic_wrong_chart", "two_searches",
        "literature_vs_metadata", "structured_labs", "count_summary", "formulary_label",
        "guideline", "trial_registry", "empty_output", "failed_output", "truncated_output",
        "many_candidates", "no_evidence",
    ):  # fmt: skip
        assert slices[name] >= 3, name
    counts = [len(t["full_tool_outputs"]) for t in traces]
    assert sum(1 for n in counts if n >= 6) >= 4


def test_everything_says_that_it_is_invented(traces: Rows, gold: Rows) -> None:
    for trace in traces:
        assert trace["synthetic"] is True
        for output in trace["full_tool_outputs"]:
            text = output["text"]
            if len(text) < 150 or output.get("truncated"):
                continue  # a failed or cut output has no room for the mark
            assert re.search(r"synthetic|invented|fictional|SYN-", text), output["source_id"]
            for pmid in re.findall(r"PMID\D{0,4}(\d+)", text):
                assert re.fullmatch(r"9\d{7}", pmid), pmid  # a range that is not in use
            for nct in re.findall(r"NCT(\d+)", text):
                assert nct.startswith("9")


def test_the_three_files_stay_small() -> None:
    assert sum((FOLDER / name).stat().st_size for name in FILES) < 2_000_000
