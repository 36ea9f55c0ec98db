"""The Python interface: what it gives back, what it refuses, and that its examples are true."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from verdicts import hostile, showcase

import provenanceguard as pg
from core.records import State
from provenanceguard import results, testing, verifier
from provenanceguard.results import verification_of

ROOT = Path(__file__).resolve().parents[1]


def test_a_claim_names_its_place_its_source_and_what_was_read_there() -> None:
    verified = showcase()

    found = verification_of(verified)

    assert found.answer is not None
    for claim, verdict in zip(found.claims, verified.claims, strict=True):
        start, end = claim.span
        assert found.answer[start:end] == verdict.claim.said
        for evidence in claim.evidence:
            whole = verified.trace.source(evidence.source).text
            assert whole[evidence.start : evidence.end] == evidence.text
    assert {claim.state for claim in found.blocked} == {State.BLOCK}
    assert {claim.state for claim in found.to_review} == {State.NEEDS_REVIEW}
    assert json.loads(json.dumps(found.to_dict()))["state"] == "block"


def test_as_text_what_is_wrong_stands_first_and_nothing_steers_a_terminal() -> None:
    marks = [
        line[0] for line in str(verification_of(showcase())).splitlines()[2:] if line[0] != " "
    ]

    assert marks == sorted(marks, key="⇄✗?✓–".index)
    assert set(marks) == set("⇄✗?✓–")
    escaping = replace(hostile(), trace=replace(hostile().trace, trace_id="\x1b[2J"))
    assert "\x1b" not in str(verification_of(escaping))


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([{"text": "x"}], "tool_outputs[0].tool_name: expected text"),
        ([{"tool_name": "a", "text": "x"}, {"tool_name": "b"}], "tool_outputs[1].text: expected"),
        ([{"tool_name": "a", "text": "x", "status": "late"}], "tool_outputs[0].status: "),
    ],
)
def test_a_wrong_output_is_named_by_its_path(outputs: list[dict[str, str]], message: str) -> None:
    with pytest.raises(pg.InputError) as refused:
        pg.verify("The dose is 5 mg.", outputs)

    assert str(refused.value).startswith(message)


def test_half_a_character_is_read_as_it_is_from_a_file() -> None:
    trace = verifier.trace_of("\ud800 mg", [{"tool_name": "chart", "text": "\ud800"}], None)

    assert trace.answer == "\ufffd mg" and trace.sources[0].text == "\ufffd"


def test_files_are_loaded_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    good = (ROOT / "sample_data/traces.jsonl").read_text("utf-8").splitlines()[0]
    file = tmp_path / "t.jsonl"
    file.write_text(f"{good}\n{{broken\n", encoding="utf-8")
    skipped: list[pg.InputError] = []

    traces = pg.load(file, skipped=skipped)

    assert [trace.trace_id for trace in traces] == ["sample-001"]
    assert [error.located().split(": ")[0] for error in skipped] == ["t.jsonl:2"]
    with pytest.raises(pg.InputError, match=r"t\.jsonl:2"):
        pg.load(file)


@pytest.mark.usefixtures("weights_loaded_once")
@pytest.mark.parametrize(
    "module", [pg, results, testing, verifier], ids=lambda module: module.__name__
)
def test_the_examples_in_its_docstrings_are_true(module: object) -> None:
    failed, _ = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)  # type: ignore[arg-type]

    assert failed == 0


@pytest.mark.usefixtures("weights_loaded_once")
@pytest.mark.parametrize(
    ("answer", "outputs"), [("She takes 20 mg.", []), ("", [{"tool_name": "t", "text": "x"}])]
)
def test_where_there_is_nothing_to_verify_no_test_passes(
    answer: str, outputs: list[dict[str, str]]
) -> None:
    with pytest.raises(AssertionError):
        testing.assert_grounded(answer, outputs, allow_review=True)


def test_importing_it_loads_no_learning_library() -> None:
    heavy = "torch transformers numpy sklearn sqlalchemy streamlit spacy"
    program = (
        f"import provenanceguard, sys; print([m for m in '{heavy}'.split() if m in sys.modules])"
    )

    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)

    assert loaded.stdout.decode().strip() == "[]", loaded.stderr
