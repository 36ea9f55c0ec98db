"""The terminal: what it prints where, its exit codes, and that a stopped run goes on."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import a_record, run, write_lines
from hypothesis import given
from hypothesis import strategies as st

from cli import COMMANDS
from cli.output import one_line, progress_text

pytestmark = pytest.mark.usefixtures("weights_loaded_once")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "workbench.db"


# ---------------------------------------------------------------- the door itself


def test_help_loads_none_of_the_heavy_packages() -> None:
    heavy = "torch transformers numpy sklearn sqlalchemy streamlit alembic pydantic"
    program = f"import cli, sys; print([m for m in '{heavy}'.split() if m in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)

    assert loaded.stdout.decode().strip() == "[]", loaded.stderr


def test_every_command_explains_itself_with_an_example_that_can_be_parsed() -> None:
    listed = set(re.findall(r"^  (\w[\w-]*)  ", run("--help").stdout, re.MULTILINE))

    for _, name, _, _ in COMMANDS:
        command = name.split()
        shown = " ".join(run(*command, "--help").stdout.split())
        (example,) = re.findall(f"Example: provenanceguard {name}(.*)$", shown)
        assert run(*command, "--help", *shlex.split(example)).exit_code == 0, name
    assert {name.split()[0] for _, name, _, _ in COMMANDS} == listed


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["import"], 2, "Missing argument"),
        (["import", "nowhere.jsonl"], 2, "error: nowhere.jsonl: no such file"),
        (["verify", "nowhere.jsonl"], 2, "error: nowhere.jsonl: no such file"),
        (["verify", "--out", "v.jsonl"], 2, "error: --out: give the files to verify"),
        (["audit", "verify", "--db", "mysql://host/db"], 2, "error: database: expected a SQLite"),
        (
            ["audit", "verify", "--db", "postgresql://me:secret@127.0.0.1:1/none"],
            3,
            "error: database postgresql+psycopg://me:***@127.0.0.1:1/none",
        ),
        (["verify", "--fail-on", "maybe"], 2, "'maybe'"),
    ],
)
def test_a_mistake_is_one_clear_line_and_an_exit_code(
    arguments: list[str], code: int, message: str
) -> None:
    result = run(*arguments)

    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert "secret" not in result.output


# ---------------------------------------------------------------- import


def test_good_records_are_kept_and_bad_ones_named(tmp_path: Path, database: Path) -> None:
    file = write_lines(tmp_path / "t.jsonl", a_record(1), "{not json", a_record(2))

    result = run("import", file, "--db", database, "--json", tmp_path / "r.json")

    assert result.exit_code == 0
    assert "skipped: t.jsonl:2: " in result.stderr
    assert "2 new" in result.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["new"], report["skipped_count"]) == (2, 1)


def test_importing_twice_changes_nothing(tmp_path: Path, database: Path) -> None:
    file = write_lines(tmp_path / "t.jsonl", a_record(1), a_record(2))
    run("import", file, "--db", database)

    again = run("import", file, "--db", database, "--json", "-")

    report = json.loads(again.stdout)
    assert (report["new"], report["changed"], report["unchanged"]) == (0, 0, 2)
    assert "0 new" in again.stderr  # with JSON on stdout people read stderr


@pytest.mark.parametrize("content", ["", "{not json\n", '{"some": "other file"}\n'])
def test_a_file_without_any_trace_is_bad_input(
    tmp_path: Path, database: Path, content: str
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(content)

    result = run("import", file, "--db", database)

    assert result.exit_code == 2
    assert "skipped: t.jsonl" in result.stderr
    assert "no trace could be read" in result.stderr


def test_the_environment_chooses_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path / "chosen.db"))

    result = run("import", write_lines(tmp_path / "t.jsonl", a_record(1)))

    assert result.exit_code == 0
    assert (tmp_path / "chosen.db").exists()


def test_names_from_a_trace_do_not_steer_the_terminal(tmp_path: Path, database: Path) -> None:
    record = a_record(1)
    record["full_tool_outputs"] = [{"tool_name": "\x1b[2J\x1b]0;owned\x07", "text": "Evidence."}]

    result = run("import", write_lines(tmp_path / "t.jsonl", record), "--db", database)

    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


@given(st.text())
def test_one_line_is_one_line_and_cannot_move_the_cursor(text: str) -> None:
    assert all(c.isprintable() for c in one_line(text))
    assert len(one_line(text)) == len(text)


# ---------------------------------------------------------------- verify, with the real models


def without_latency(path: Path) -> list[dict[str, object]]:
    documents = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for document in documents:
        del document["latency_seconds"], document["line_sha256"]  # one digests the other
    return documents


def test_files_are_verified_and_the_gate_answers(tmp_path: Path) -> None:
    good, wrong = a_record(1), a_record(2, "The patient takes metformin 900 mg twice daily.")
    file = write_lines(tmp_path / "t.jsonl", good, "{not json", wrong)
    out = tmp_path / "v.jsonl"

    result = run("verify", file, "--out", out, "--fail-on", "block", "--json", tmp_path / "r.json")

    assert result.exit_code == 1, result.output
    assert "skipped: t.jsonl:2: " in result.stderr
    verdicts = without_latency(out)
    assert [verdict["trace_id"] for verdict in verdicts] == ["case-1", "case-2"]
    assert verdicts[1]["decision"] == "block"
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["decisions"]["block"] == sum(v["decision"] == "block" for v in verdicts)
    assert sum(report["decisions"].values()) == report["traces"] == 2
    assert report["skipped"]["count"] == 1


def test_without_a_file_to_write_each_answer_is_shown_claim_by_claim(tmp_path: Path) -> None:
    good, wrong = a_record(1), a_record(2, "The patient takes metformin 900 mg twice daily.")
    file = write_lines(tmp_path / "t.jsonl", good, wrong)

    shown = run("verify", file)
    quiet = run("verify", file, "--quiet")
    document = json.loads(run("verify", file, "--json", "-").stdout)

    heads = [line for line in shown.stdout.splitlines() if line.startswith("case-")]
    assert [head.partition(":")[0] for head in heads] == ["case-1", "case-2"]
    assert shown.stdout.count("probability that a source supports the claim") == 1  # the number
    assert "metformin 900 mg" in shown.stdout and "metformin" not in quiet.stdout
    assert "2 answers: " in shown.stdout and "2 answers: " in quiet.stdout
    assert [answer["trace_id"] for answer in document["answers"]] == ["case-1", "case-2"]
    assert document["answers"][1]["state"] != "allow"
    assert sum(document["states"].values()) == 2


def test_no_model_is_loaded_where_there_is_nothing_to_judge(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "t.jsonl", "{not json")
    program = (
        "import sys; from typer.testing import CliRunner; from cli import app\n"
        "for command in ('verify', 'gate', 'repair'):\n"
        f"    done = CliRunner().invoke(app, [command, {str(file)!r}])\n"
        "    loaded = 'core.models.nli_model' in sys.modules\n"
        "    print(done.exit_code, loaded, done.stderr.replace(chr(10), ' '))"
    )

    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)

    said = done.stdout.splitlines()
    assert len(said) == 3, done.stderr
    for line in said:
        assert line.startswith("2 False"), line
        assert "t.jsonl:1" in line and "no trace could be read" in line


def test_the_version_and_the_commands_by_purpose() -> None:
    panels = re.findall(r"^(\w+):$", run("--help").stdout, re.MULTILINE)

    assert re.fullmatch(r"provenanceguard \d+\.\d+\.\d+\n", run("--version").stdout)
    assert panels == ["Options", "Everyday", "Review", "Evaluate", "Audit", "Serve"]


@pytest.mark.stress
def test_a_run_that_was_told_to_end_goes_on_to_the_same_verdicts(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "t.jsonl", *(a_record(n) for n in range(1, 25)))
    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    command = [sys.executable, "-m", "cli", "verify", str(file), "--out", str(stopped)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    while process.poll() is None and not (stopped.exists() and stopped.stat().st_size):
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 128 + signal.SIGTERM, errors
    assert b"run the same command again" in errors
    assert b"Traceback" not in errors
    before = stopped.read_bytes()
    kept = before.count(b"\n")
    assert 0 < kept < 24

    again = run("verify", file, "--out", stopped, "--json", "-")
    run("verify", file, "--out", whole)

    assert json.loads(again.stdout)["kept"] == kept
    assert stopped.read_bytes()[: before.rindex(b"\n")] == before[: before.rindex(b"\n")]
    assert without_latency(stopped) == without_latency(whole)


def test_what_waits_in_the_database_is_verified_once_and_audited(
    tmp_path: Path, database: Path
) -> None:
    file = write_lines(tmp_path / "t.jsonl", a_record(1), a_record(2))
    run("import", file, "--db", database)

    first = run("verify", "--db", database, "--json", "-")
    second = run("verify", "--db", database, "--json", "-")

    assert json.loads(first.stdout)["verified"] == 2
    assert json.loads(second.stdout)["verified"] == 0
    audit = run("audit", "verify", "--db", database, "--json", "-")
    assert audit.exit_code == 0
    assert json.loads(audit.stdout)["verdicts"] == 2


@pytest.mark.stress
def test_doctor_looks_at_every_component_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("no database at all " * 500)

    result = run("doctor", "--db", tmp_path / "notes.db", "--json", tmp_path / "r.json")

    checks = {c["name"]: c for c in json.loads((tmp_path / "r.json").read_text())["checks"]}
    assert [name for name, check in checks.items() if not check["passed"]] == ["database"]
    assert result.exit_code == 3
    assert "NOT OK database" in result.stdout
    assert "→ give another with --db" in result.stdout
    assert re.search(r"sha256:\w{12}", checks["NLI model"]["found"])
    assert "reads entailment" in checks["NLI model"]["found"]
    assert "reads contradiction" in checks["NLI model"]["found"]


# ---------------------------------------------------------------- progress


def test_progress_tells_rate_and_time_left() -> None:
    assert (
        progress_text(10, 40, "traces", 20.0, 0)
        == "10 of 40 traces · 0.5 a second · 1 min 00 s left"
    )
    assert progress_text(0, 40, "traces", 0.0, 0) == "0 of 40 traces"
    assert progress_text(7, None, "traces", 7.0, 0) == "7 traces · 1.0 a second"
    assert progress_text(40, 40, "traces", 20.0, 0) == "40 of 40 traces · 2.0 a second"


def test_what_was_kept_from_before_does_not_flatter_the_rate() -> None:
    assert "0.5 a second" in progress_text(110, 200, "traces", 20.0, 100)


def test_progress_is_silent_where_nobody_watches(tmp_path: Path, database: Path) -> None:
    result = run("import", write_lines(tmp_path / "t.jsonl", a_record(1)), "--db", database)

    assert "\r" not in result.stderr
