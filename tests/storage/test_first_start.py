"""The first start shows real verdicts; the second one loads no model."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store, workspace_of
from evaluations import packet_records
from verdicts import a_verification

from core.capture.reading import read_traces
from core.config import Config
from core.evaluation.kept import (
    JobState,
    JobStatus,
    kept_packets,
    kept_runs,
    write_status,
)
from core.places import SAMPLE
from core.records import Decision, Trace
from core.workflows.background import lock_for_work, start_work
from core.workflows.evaluating import LESS_PRESSING, evaluate_brought
from core.workflows.first_start import bring_packet, prepare, up_to_date
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

    assert first[0] == f"Loaded 1 sample answers into {empty.name}"
    assert "Loading the models" in first
    assert first[-1].endswith(" s: 0 allow, 0 needs review, 1 block")
    assert empty.overview().waiting == 0
    assert empty.get_verdict("case-1").decision is Decision.BLOCK  # 900 mg is nowhere
    assert second == ["1 answers are verified"]


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

    assert said == ["0 answers are verified"]


def test_the_first_start_shows_the_answers_by_hand() -> None:
    shown = [one for one in read_traces([SAMPLE]) if isinstance(one, Trace)]

    assert len(shown) == 24 and SAMPLE.parent.name == "by_hand"


@pytest.mark.stress
def test_the_sample_packet_is_evaluated_once_and_goes_on_after_a_kill(
    empty: SqlStore, tmp_path: Path
) -> None:
    file, folder = tmp_path / "packet.jsonl", tmp_path / "evaluations"
    file.write_text("".join(json.dumps(one) + "\n" for one in packet_records(4)))
    ruling = workspace_of(empty).calibrators.current()
    assert not evaluate_brought(folder, file, ruling)  # nobody brought it
    bring_packet(empty, folder, file, print)
    (packet,) = kept_packets(folder)
    killed = JobStatus(state=JobState.RUNNING, what="claims", done=1, total=4, started=1.0)
    write_status(packet, killed)

    assert evaluate_brought(folder, file, ruling)
    assert not evaluate_brought(folder, file, ruling)  # it is at work
    with (packet.folder / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held until the process has ended

    (run,) = kept_runs(packet)
    assert run.report["threshold"] == ruling.threshold
    assert not evaluate_brought(folder, file, ruling)


@pytest.mark.parametrize("ended", [JobState.STOPPED, JobState.FAILED])
def test_what_a_person_stopped_or_what_failed_is_not_begun_again(
    empty: SqlStore, tmp_path: Path, ended: JobState
) -> None:
    file, folder = tmp_path / "packet.jsonl", tmp_path / "evaluations"
    file.write_text("".join(json.dumps(one) + "\n" for one in packet_records(4)))
    bring_packet(empty, folder, file, print)
    (packet,) = kept_packets(folder)
    write_status(packet, JobStatus(state=ended, what="claims"))

    assert not evaluate_brought(folder, file, workspace_of(empty).calibrators.current())


def test_a_packet_is_brought_to_an_empty_database_alone_and_a_full_disk_is_said(
    empty: SqlStore, tmp_path: Path
) -> None:
    file, said = tmp_path / "packet.jsonl", list[str]()
    file.write_text("".join(json.dumps(one) + "\n" for one in packet_records(4)))

    bring_packet(empty, file / "evaluations", file, said.append)  # no folder can be there

    assert said == [f"The sample packet is not evaluated: {file / 'evaluations'}: Not a directory"]
    empty.put_traces([a_trace("Mine.", a_source("Evidence."), trace_id="mine")])
    bring_packet(empty, tmp_path / "evaluations", file, said.append)
    assert kept_packets(tmp_path / "evaluations") == ()


def test_work_in_the_background_lets_pages_go_first_and_still_gets_on(tmp_path: Path) -> None:
    with lock_for_work(tmp_path / "lock") as lock:
        assert lock is not None
        process = start_work("this", [], lock, what="work", niceness=LESS_PRESSING)

    niceness = os.getpriority(os.PRIO_PROCESS, process)
    assert niceness == LESS_PRESSING and 0 < niceness < 10
