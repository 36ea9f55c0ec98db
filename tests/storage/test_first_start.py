"""The first start shows real verdicts; the second one loads no model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store, workspace_of
from verdicts import a_verification

from core.config import Config
from core.records import Decision
from core.workflows.first_start import prepare, up_to_date
from storage.store import SqlStore

pytestmark = pytest.mark.usefixtures("weights_loaded_once")

RUN = "sha256:" + "1" * 64


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[SqlStore]:
    store = a_store(tmp_path / "workbench.db", actor="tester")
    yield store
    store.close()


def a_sample(folder: Path) -> Path:
    record = {
        "question_id": "case-1",
        "user_question": "Which dose?",
        "full_tool_outputs": [
            {
                "tool_name": "load_patient_history",
                "source_id": "chart",
                "text": "Takes metformin 500 mg.",
            }
        ],
        "assistant_answer": "The patient takes metformin 900 mg.",
    }
    file = folder / "traces.jsonl"
    file.write_text(json.dumps(record) + "\n")
    return file


def test_the_first_start_verifies_the_samples_and_the_second_loads_no_model(
    empty: SqlStore, tmp_path: Path
) -> None:
    sample, first, second = a_sample(tmp_path), list[str](), list[str]()

    prepare(empty, workspace_of(empty).calibrators, sample, first.append)
    prepare(empty, workspace_of(empty).calibrators, sample, second.append)

    assert first[0] == f"Loaded 1 sample traces into {empty.name}"
    assert "Loading the models" in first
    assert empty.overview().waiting == 0
    assert empty.get_verdict("case-1").decision is Decision.BLOCK  # 900 mg is nowhere
    assert second == ["1 traces are verified"]


def test_a_database_with_traces_of_its_own_gets_no_samples(empty: SqlStore, tmp_path: Path) -> None:
    trace = a_trace("Mine.", a_source("Evidence."), trace_id="mine")
    empty.put_traces([trace])
    assert not up_to_date(empty, workspace_of(empty).calibrators, Config())

    empty.put_verdicts(RUN, [a_verification(trace, {"chart": "patient_record"}, [])])

    assert not up_to_date(
        empty, workspace_of(empty).calibrators, Config()
    )  # verified, but by models that are not the present ones
    assert empty.overview().traces == 1


def test_an_empty_database_without_samples_waits_for_nothing(
    empty: SqlStore, tmp_path: Path
) -> None:
    said: list[str] = []

    prepare(empty, workspace_of(empty).calibrators, tmp_path / "no samples.jsonl", said.append)

    assert said == ["0 traces are verified"]
