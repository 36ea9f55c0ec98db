"""provenanceguard gate: a policy, JUnit, SARIF, evaluation events, and the step of the CI action."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from judged import MODEL, contradicted, keep_replies, supported
from serving import ANSWER, OUTPUTS, ROOT
from tables import cases
from typer.testing import CliRunner, Result

from cli import app
from core.capture.reading import read_traces
from core.models.forest import load_forest
from core.records import Trace

pytestmark = pytest.mark.usefixtures("weights_loaded_once")
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
RECORD = {"question_id": TRACE_ID, "full_tool_outputs": OUTPUTS, "assistant_answer": ANSWER}
CLEAN = {**RECORD, "question_id": "clean", "assistant_answer": "Please ask her physician."}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A file with an answer that blocks and one that claims nothing."""
    file = tmp_path / "traces.jsonl"
    file.write_text(f"{json.dumps(RECORD)}\n{json.dumps(CLEAN)}\n", encoding="utf-8")
    return file


def _policy(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_gate_tells_in_three_formats_what_it_blocked(traces: Path, tmp_path: Path) -> None:
    names = ("junit", "sarif", "otlp", "json")
    out = {name: tmp_path / name for name in names}

    result = run(traces, *(part for name in names for part in (f"--{name}", out[name])))

    assert result.exit_code == 1, result.output
    told = json.loads(out["json"].read_text())
    assert told["broken"][0] == "blocked: 1 answers do not pass, and 0 may be there"
    assert "2 answers: 1 allow, 0 needs review, 1 block\n" in result.stdout
    suite = ElementTree.parse(out["junit"]).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == [TRACE_ID, "policy"]
    (found,) = json.loads(out["sarif"].read_text())["runs"]
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    for each in found["results"]:
        assert rules[each["ruleIndex"]] == each["ruleId"]
        place = each["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "traces.jsonl"
        assert place["region"]["startLine"] == 1
    assert any("eGFR is 91" in each["message"]["text"] for each in found["results"])
    stops = [line for line in result.stdout.splitlines() if line.startswith(f"{TRACE_ID} c")]
    assert len(stops) == len(found["results"]) and all(" – " in line for line in stops)
    assert "eGFR" not in out["otlp"].read_text()


@cases
def test_a_policy_says_how_much_may_be_there(
    traces: Path, tmp_path: Path, text: str, code: int, told: str
) -> None:
    result = run(traces, "--policy", _policy(tmp_path, text))

    assert result.exit_code == code, result.output
    assert told in result.output + result.stderr


def test_a_policys_judge_reads_unless_the_command_line_names_another(
    traces: Path, tmp_path: Path
) -> None:
    (trace, *_) = [one for one in read_traces([traces]) if isinstance(one, Trace)]
    chart = str(OUTPUTS[0]["text"])
    kept = keep_replies(
        tmp_path / "kept", trace, {1: supported(chart), 2: contradicted(chart, "91", "58")}
    )
    policy = _policy(tmp_path, f"[judge]\naddress = 'replay:{kept}'\nfor = 'all'")
    (tmp_path / "empty").write_text("")

    read = run(traces, "--policy", policy)
    other = run(traces, "--policy", policy, "--judge", f"replay:{tmp_path / 'empty'}")
    none = run(traces)

    assert f"claims that {MODEL} was asked about: 3; proved: 2" in read.stdout
    assert f"as {MODEL} reads it" in read.stdout and read.exit_code == 1
    assert "claims not read by the judge: 3 (no reply" in other.stdout
    assert f"as {MODEL} reads it" not in other.stdout and other.exit_code == 1
    assert "judge" not in none.stdout


def test_answers_that_pass_as_a_whole_are_another_run(traces: Path, tmp_path: Path) -> None:
    written = {}
    asked = {"one": [], "whole": ["--whole-answers"]}
    for name, more in asked.items():
        out = tmp_path / f"{name}.jsonl"
        result = CliRunner().invoke(app, ["verify", str(traces), "--out", str(out), *more])
        assert result.exit_code == 0, result.output
        written[name] = [json.loads(line) for line in out.read_text().splitlines()]

    one, *_ = written["one"]
    assert {claim["threshold"] for claim in one["claims"]} <= {load_forest().threshold, None}
    whole, *_ = written["whole"]
    assert whole["versions"]["calibrator"] == f"{one['versions']['calibrator']}+whole"
    refused = CliRunner().invoke(app, ["verify", "--whole-answers", "--db", "x.db"])
    assert refused.exit_code == 2 and "give the files" in refused.output


def test_what_could_not_be_read_breaks_the_policy_unless_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(CLEAN) + "\n{not json\n", encoding="utf-8")
    lenient = _policy(tmp_path, 'allow_skipped = ["t.jsonl"]')

    assert run(file).exit_code == 1
    assert run(file, "--policy", lenient).exit_code == 0
    assert run(tmp_path / "policy.toml").exit_code == 2


def test_a_receiver_of_opentelemetry_takes_the_evaluation_events(
    traces: Path, tmp_path: Path
) -> None:
    pytest.importorskip("opentelemetry.proto", reason="opentelemetry-proto is not installed")
    receiver = ROOT / "tests/otlp_receiver.py"
    with subprocess.Popen([sys.executable, receiver], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            result = run(
                traces, "--otlp-endpoint", f"http://127.0.0.1:{port}", "--explanations",
                "--json", tmp_path / "j",
            )  # fmt: skip
        finally:
            process.terminate()
        events = [json.loads(line) for line in process.stdout]
    gone = run(traces, "--otlp-endpoint", f"http://127.0.0.1:{port}")

    assert result.exit_code == 1, result.output
    assert {event["path"] for event in events} == {"/v1/logs"}
    assert {event["event"] for event in events} == {"gen_ai.evaluation.result"}
    answers = [e for e in events if e["gen_ai.evaluation.name"] == "provenanceguard.answer"]
    assert [e["gen_ai.evaluation.score.label"] for e in answers] == ["block", "allow"]
    claims = [e for e in events if e["gen_ai.evaluation.name"] == "provenanceguard.claim"]
    assert all(0 < e["gen_ai.evaluation.score.value"] <= 1 for e in claims)
    assert all(e["gen_ai.response.id"] == TRACE_ID for e in claims)
    assert all(e["gen_ai.evaluation.explanation"] for e in claims)
    assert gone.exit_code == 3 and "error: " in gone.stderr


@pytest.mark.stress
def test_the_step_of_the_action_gates_a_folder(traces: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    command = tmp_path / "bin" / "provenanceguard"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m cli "$@"\n')
    command.chmod(0o755)
    given = {
        "TRACES": str(traces), "POLICY": "", "JUNIT": str(tmp_path / "j.xml"),
        "SARIF": str(tmp_path / "s.sarif"), "PYTHONPATH": str(ROOT),
        "PATH": f"{command.parent}:{os.environ['PATH']}",
    }  # fmt: skip

    done = subprocess.run(["bash", "-c", steps[-1]["run"]], env=os.environ | given)

    assert done.returncode == 1
    assert (tmp_path / "j.xml").exists() and (tmp_path / "s.sarif").exists()
    assert hook["entry"] == "provenanceguard gate"


def _talk(tmp_path: Path, *said: tuple[str, str]) -> Path:
    """A transcript of who said what; ``tool`` is a call with what it gave."""
    messages: list[dict[str, object]] = []
    for role, text in said:
        if role == "tool":
            call = {"id": "c1", "function": {"name": "load_chart", "arguments": "{}"}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": role, "content": text, "tool_call_id": "c1"})
    file = tmp_path / "talk.json"
    file.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    return file


ASKED = (("user", "What is the eGFR?"), ("tool", "eGFR: 28 mL/min"))
THANKED = (("user", "Thanks"), ("assistant", "You are welcome!"))


@pytest.mark.parametrize("closing", [(), THANKED, (*THANKED, *THANKED)])
@pytest.mark.parametrize(("said", "code"), [("The eGFR is 91.", 1), ("The eGFR is 28.", 0)])
def test_a_closing_word_changes_nothing_about_the_answer_before_it(
    tmp_path: Path, said: str, code: int, closing: tuple[tuple[str, str], ...]
) -> None:
    result = run(_talk(tmp_path, *ASKED, ("assistant", said), *closing))

    assert result.exit_code == code, result.output


@cases
def test_what_was_said_before_any_call_breaks_the_policy_where_it_states_something(
    tmp_path: Path, before: str, policy: str, code: int
) -> None:
    talk = _talk(tmp_path, ("user", "Hi"), ("assistant", before), *ASKED, *THANKED[1:])

    result = run(talk, "--policy", _policy(tmp_path, policy))

    assert result.exit_code == code, result.output
    assert ("broken: earlier: 1" in result.output) == bool(code)


def test_a_native_record_keeps_what_was_said_earlier_before_the_gate(tmp_path: Path) -> None:
    file, told = tmp_path / "native.jsonl", tmp_path / "told.json"
    earlier = {**CLEAN, "question_id": "later", "earlier_answers": [ANSWER]}
    file.write_text(json.dumps(earlier) + "\n", encoding="utf-8")
    lenient = _policy(tmp_path, "[most]\nblocked = 9")

    alone = run(file, "--policy", lenient, "--json", told)
    file.write_text(f"{json.dumps(RECORD)}\n{json.dumps(earlier)}\n", encoding="utf-8")
    together = run(file, "--policy", lenient)

    assert (alone.exit_code, together.exit_code) == (1, 0), alone.output + together.output
    assert json.loads(told.read_text())["earlier_not_judged"] == 1


def test_a_file_that_no_format_fits_is_named_as_a_whole(traces: Path, tmp_path: Path) -> None:
    (tmp_path / "strange.json").write_text('{"surprise": 1}', encoding="utf-8")
    (tmp_path / "broken.jsonl").write_text(json.dumps(CLEAN) + "\n{not json\n", encoding="utf-8")
    out = tmp_path / "gate.xml"

    files = (traces, tmp_path / "strange.json", tmp_path / "broken.jsonl")
    assert run(*files, "--junit", out).exit_code == 1

    suite = ElementTree.parse(out).getroot()[0]
    unread = [case for case in suite if case.find("error") is not None]
    assert {(case.get("classname"), case.get("name")) for case in unread} == {
        ("strange.json", "the whole file"),
        ("broken.jsonl", "line 2"),
    }
