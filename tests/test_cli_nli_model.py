"""The terminal reads and decides by what is in force, or by the NLI model and calibrator that are named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import a_record, run, write_lines
from databases import workspace_of
from forests import a_calibrator
from nli_models import an_nli_model

from core.models.loading import load_nli_model
from storage.store import open_store

pytestmark = pytest.mark.usefixtures("weights_loaded_once")
NLI = ("neutral", "contradiction", "entailment")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return an_nli_model(tmp_path / "tiny", NLI)


@pytest.mark.stress
def test_another_nli_model_is_refused_until_a_calibrator_was_fitted_on_it(
    tmp_path: Path, tiny: Path
) -> None:
    file = write_lines(tmp_path / "t.jsonl", a_record(1))

    refused = run("verify", file, "--nli-model", tiny)

    assert refused.exit_code == 2
    command = re.search(r"`provenanceguard (recalibrate [^`]+)`", refused.stderr)
    assert command is not None
    assert f"--nli-model {tiny}" in command.group(1)

    packet = write_lines(tmp_path / "train.jsonl", *_claims(60))
    told = command.group(1).replace("TRAIN.jsonl", str(packet)).split()
    out = tmp_path / "calibrator"
    made = run(*(str(out) if word == "calibrator/" else word for word in told))
    assert made.exit_code == 0, made.stderr
    fitted = run("verify", file, "--nli-model", tiny, "--calibrator", out, "--json", "-")

    assert fitted.exit_code == 0, fitted.stderr
    versions = json.loads(fitted.stdout)["versions"]
    assert versions["pair_reader"] == load_nli_model(tiny).name
    assert run("verify", file, "--calibrator", out).exit_code == 2


def _claims(count: int) -> list[dict[str, object]]:
    """Labelled claims about doses, half of them wrong, each of its own trace."""
    rows: list[dict[str, object]] = []
    for number in range(count):
        right = number % 2 == 0
        rows.append(
            {
                "claim_id": f"claim-{number}",
                "trace_id": f"trace-{number}",
                "claim": f"The dose is {number if right else number + 900} mg in the morning.",
                "label": "supported" if right else "unsupported",
                "gold_source_ids": ["chart"],
                "sources": [
                    {
                        "source_id": "chart",
                        "tool_name": "load_patient_history",
                        "text": f"Takes {number} mg in the morning, with a glass of water.",
                    }
                ],
            }
        )
    return rows


def test_a_database_reads_with_what_its_lead_chose(tmp_path: Path, tiny: Path) -> None:
    database = tmp_path / "workbench.db"
    file = write_lines(tmp_path / "t.jsonl", a_record(1))
    run("import", file, "--db", database)
    name = load_nli_model(tiny).name
    a_calibrator(tmp_path / "fits", nli=name)

    alone = run("nli-model", tiny, "--reason", "it is tiny", "--db", database)
    unsaid = run("nli-model", tiny, "--calibrator", tmp_path / "fits", "--db", database)
    chosen = run(
        "nli-model", tiny, "--calibrator", tmp_path / "fits", "--reason", "tiny", "--db", database
    )
    verified = json.loads(run("verify", "--db", database, "--json", "-").stdout)
    shown = json.loads(run("nli-model", "--db", database, "--json", "-").stdout)
    back = run(
        "nli-model", "bundled", "--calibrator", "shipped", "--reason", "back", "--db", database
    )
    again = json.loads(run("verify", "--db", database, "--json", "-").stdout)

    assert alone.exit_code == unsaid.exit_code == 2
    assert "recalibrate" in alone.stderr and "reason" in unsaid.stderr
    assert chosen.exit_code == back.exit_code == 0, chosen.stderr + back.stderr
    assert (verified["verified"], verified["versions"]["pair_reader"]) == (1, name)
    assert (shown["nli_model"], shown["reason"]) == (str(tiny), "tiny")
    assert again["verified"] == 1
    assert again["versions"]["pair_reader"] != name
    assert run("audit", "verify", "--db", database).exit_code == 0


def test_the_names_of_0_19_0_work_with_a_notice(tmp_path: Path) -> None:
    database = tmp_path / "w.db"

    old = run("reader", "--db", database, "--json", "-")
    new = run("nli-model", "--db", database, "--json", "-")
    option = run("doctor", "--reader=nobody/no-such-model", "--db", database)

    assert (old.exit_code, json.loads(old.stdout)) == (0, json.loads(new.stdout))
    assert "reader is now called nli-model" in old.stderr and "now called" not in new.stderr
    assert "--reader is now called --nli-model" in option.stderr
    assert "nobody/no-such-model" in option.stdout + option.stderr


def test_doctor_tries_the_nli_model_that_is_named(tmp_path: Path, tiny: Path) -> None:
    found = run("doctor", "--nli-model", tiny, "--db", tmp_path / "w.db", "--json", "-")

    checks = {check["name"]: check for check in json.loads(found.stdout)["checks"]}
    assert load_nli_model(tiny).name in checks["NLI model"]["found"]
    assert "paper" in checks["NLI models"]["found"]


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "FILE"],
        ["repair", "FILE"],
        ["probe", "FILE"],
        ["evaluate", "FILE"],
        ["sweep", "FILE"],
        ["recalibrate", "FILE", "--out", "OUT"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_judges_takes_an_nli_model_and_says_what_is_missing(
    tmp_path: Path, command: list[str]
) -> None:
    file = write_lines(tmp_path / "t.jsonl", *_claims(2))
    # Traces are read before a model is: claims would end these two with what is wrong with the file.
    traces = Path(__file__).parents[1] / "sample_data" / "traces.jsonl"
    places = {
        "FILE": str(traces if command[0] in {"verify", "repair"} else file),
        "OUT": str(tmp_path / "out"),
    }

    found = run(
        *(places.get(word, word) for word in command), "--nli-model", "nobody/no-such-reader"
    )

    assert found.exit_code == 3
    assert "nobody/no-such-reader" in found.stderr


# ---------------------------------------------------------------- the calibrator


def test_the_databases_own_traces_are_decided_by_what_a_lead_put_in_force(tmp_path: Path) -> None:
    database = tmp_path / "workbench.db"
    run("import", write_lines(tmp_path / "t.jsonl", a_record(1)), "--db", database)
    first = json.loads(run("verify", "--db", database, "--json", "-").stdout)
    store = open_store(str(database))
    calibrators, lead = workspace_of(store).calibrators, workspace_of(store).people.local()
    calibrators.use_threshold(0.9999, "nothing passes for a while", lead)

    again = json.loads(run("verify", "--db", database, "--json", "-").stdout)
    shipped = json.loads(
        run("verify", "--db", database, "--calibrator", "shipped", "--json", "-").stdout
    )

    assert again["versions"]["calibrator"] == calibrators.current().label
    assert (again["verified"], again["decisions"]["block"]) == (1, 1)
    assert shipped["verified"] == 0  # it has that verdict already
    assert shipped["versions"] == first["versions"]


def test_files_are_decided_by_the_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path / "workbench.db"))
    file = write_lines(tmp_path / "t.jsonl", a_record(1))
    name = a_calibrator(tmp_path / "mine", above=0.2, below=0.1)
    store = open_store(str(tmp_path / "workbench.db"))
    workspace_of(store).calibrators.use_threshold(0.5, "lower", workspace_of(store).people.local())

    mine = json.loads(run("verify", file, "--calibrator", tmp_path / "mine", "--json", "-").stdout)
    promoted = json.loads(run("verify", file, "--calibrator", "promoted", "--json", "-").stdout)
    nowhere = run("verify", file, "--calibrator", tmp_path / "nowhere")

    assert mine["versions"]["calibrator"] == name
    assert mine["decisions"]["block"] == 1
    assert promoted["versions"]["calibrator"] == workspace_of(store).calibrators.current().label
    assert nowhere.exit_code == 3
    assert "no calibrator at" in nowhere.stderr
