"""What authors wrote: read line by line, and nothing that is taught stands among what measures."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from core.evaluation.packets import read_packet
from training.data import BESIDE_CHARACTERS, SOURCES, authored_pass
from training.packets import BLIND_HALVES, SECOND, blind_pairs, main, rows_of, written
from training.texts import authored_pairs, text_folder

INDEPENDENT = [text_folder() / "pairs" / f"independent_{part}.toml" for part in "ab"]

# What the NLI model is measured with (results of grounded generation by others).
MEASURED_ONLY = (
    "train/snli_dev",
    "more/attributionbench_dev",
    "more/bump",
    "more/contractnli_dev",
    "more/faceval_samsum",
    "more/factcheckgpt_stance",
    "more/qa_feedback_dev",
)


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def test_no_set_that_measures_is_taught() -> None:
    taught = {name if "/" in name else f"train/{name}" for name in SOURCES}

    assert not taught & set(MEASURED_ONLY)


@pytest.mark.stress
def test_no_source_is_one_of_the_independent_pairs() -> None:
    independent = {
        words(row[0])
        for path in INDEPENDENT
        for rows in tomllib.loads(path.read_text(encoding="utf-8")).values()
        for row in rows
    }
    for source in {pair.source for pair in authored_pairs()}:
        here = words(source)
        # Sets of which one is not 0.6 of the other's size cannot share 0.6 of their words.
        alike = [one for one in independent if 0.6 * len(one) <= len(here) <= len(one) / 0.6]
        near = max((len(here & one) / len(here | one) for one in alike), default=0.0)
        assert near < 0.6, source


@pytest.mark.parametrize("line", ["- Z | a kind that is not known", "* no sign", "+no space"])
def test_a_line_of_another_form_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "x.txt").write_text(f"S: A source.\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.txt:2: expected"):
        authored_pairs(tmp_path)


@pytest.mark.stress
def test_a_pass_shows_every_pair_once_with_its_whole_source_as_evidence_is_read() -> None:
    read = authored_pass(7, 0)

    assert read == authored_pass(7, 0) != authored_pass(7, 1)
    assert [(each.hypothesis, each.label) for each in read] == [
        (pair.claim, pair.label) for pair in authored_pairs()
    ]
    for shown, pair in zip(read, authored_pairs(), strict=True):
        assert "".join(pair.source.split()) in "".join(shown.premise.split())
        beside = len(shown.premise) - len(pair.source)
        assert 0 <= beside <= BESIDE_CHARACTERS + 1
    on_lines = sum(pair.premise.count("\n") for pair in read)
    assert on_lines > sum(pair.source.count("\n") for pair in authored_pairs())


@pytest.mark.stress
@pytest.mark.parametrize("kind", ["answers", "written"])
def test_all_authors_claims_read_as_a_packet_and_some_can_be_taken_alone(
    kind: str, tmp_path: Path
) -> None:
    main([kind, "--out", str(tmp_path / "all.jsonl")])
    rows = read_packet(tmp_path / "all.jsonl").rows
    chosen = rows[0].trace_id.split("-")[0]

    assert len({row.claim_id for row in rows}) == len(rows) > 3_000
    assert all(row.scored and not row.held_out for row in rows)
    assert {str(row["trace_id"]).split("-")[0] for row in rows_of(kind, [chosen])} == {chosen}


@pytest.mark.stress
def test_no_written_chart_stands_among_the_blind_ones() -> None:
    """What an NLI model was taught with may not be what it is measured on."""
    taught = {words(one.text) for group in written() for one in group.sources}
    claims = {words(one.claim) for group in written() for one in group.statements}
    for part in (*BLIND_HALVES, SECOND):
        pairs = list(blind_pairs(part))
        assert not taught & {words(pair.chart) for pair in pairs}
        same = claims & {words(pair.claim) for pair in pairs}
        assert len(same) <= 0.01 * len(pairs)
