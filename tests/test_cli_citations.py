"""The terminal's citation audits: JSON by its published schema, exit codes, errors in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import a_record, run, write_lines
from jsonschema import Draft202012Validator

from core.citations.report import SCHEMAS, schema

SAMPLE = Path(__file__).parents[1] / "sample_data" / "traces.jsonl"
EVIDENCE = [
    {"span": "The Ferrin Bridge opened in 1931.", "title": "Ferrin Bridge", "source_root": "b"}
]


def _run(*arguments: str | Path) -> tuple[int, str]:
    result = run(*arguments)
    return result.exit_code, result.output


def _valid(path: Path, name: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(path.read_text())
    Draft202012Validator(schema(name)).validate(document)
    return document


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_published_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_audit_citations_of_the_sample(tmp_path: Path) -> None:
    code, output = _run("audit-citations", str(SAMPLE), "--json", str(tmp_path / "c.json"))

    document = _valid(tmp_path / "c.json", "citations")
    assert code == 0, output
    assert len(document["answers"]) == len(SAMPLE.read_text().splitlines())  # type: ignore[arg-type]


def test_audit_citations_checks_each_claim_by_the_stages_of_seed_001(tmp_path: Path) -> None:
    trace = {
        "question_id": "q",
        "user_question": "?",
        "full_tool_outputs": [
            {"tool_name": "search", "text": "PMID: 31000001\nTitle: Bees at night\n" + text}
            if number == 0
            else {"tool_name": "search", "text": "PMID: 31000002\nTitle: Moss on roofs\n" + text}
            for number, text in enumerate(
                (
                    "Nectar intake of the mountain bees rose by 18 percent in the lit fields.",
                    "Moss roofs held back 62 percent of the storm water in the old town.",
                )
            )
        ],
        "final_reply_to_user": "Nectar intake of the mountain bees rose by 18 percent in the lit "
        "fields (PMID 31000002).",
    }
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(trace))
    arguments = ("audit-citations", str(file), "--claims")

    code, output = _run(*arguments, "--json", str(tmp_path / "c.json"))

    document = _valid(tmp_path / "c.json", "citations")
    (claim,) = document["answers"][0]["claims"]  # type: ignore[index]
    assert code == 0, output
    assert (claim["action"], claim["verdict"] != "supported") == ("replace", True)
    assert "18 percent" in claim["better"]["quote"]
    assembled = document["answers"][0]["assembled"]  # type: ignore[index]
    assert assembled["cited"] == [claim["better"]]
    assert assembled["text"].splitlines()[0] == f"{claim['text']} [1] ({claim['verdict']})"
    assert assembled["warning"]
    assert _run(*arguments, "--turn", "moon")[0] == 2


def test_audit_citations_blocks_when_asked(tmp_path: Path) -> None:
    trace = a_record(1, "Bees fly at night (PMID 39999999).")
    file = write_lines(tmp_path / "t.jsonl", trace)

    assert _run("audit-citations", str(file))[0] == 0
    assert _run("audit-citations", str(file), "--fail-on", "block")[0] == 1
    assert _run("audit-citations", str(file), "--fail-on", "never")[0] == 2
    assert _run("audit-citations", str(tmp_path / "none.jsonl"))[0] == 2


@pytest.mark.parametrize(
    "answer", ["The Ferrin Bridge opened in 1931. [E1]", "An old mill. [E4]", "{"]
)
def test_audit_lattice(tmp_path: Path, answer: str) -> None:
    (tmp_path / "a.txt").write_text(answer)
    (tmp_path / "e.json").write_text(json.dumps(EVIDENCE))
    paths = [str(tmp_path / "a.txt"), "--evidence", str(tmp_path / "e.json")]

    code, output = _run("audit-lattice", *paths, "--json", str(tmp_path / "l.json"))

    assert code == 0, output
    document = _valid(tmp_path / "l.json", "lattice_audit")
    strict = document["audit_mode"] == "STRICT"
    assert strict == (answer == "The Ferrin Bridge opened in 1931. [E1]")
    assert _run("audit-lattice", *paths, "--fail-on", "block")[0] == (0 if strict else 1)


def test_audit_lattice_of_a_json_answer_keeps_its_shape(tmp_path: Path) -> None:
    answer = {"claims": [{"text": "The Ferrin Bridge opened.", "evidence_ids": ["E1"]}]}
    Draft202012Validator(schema("lattice")).validate(answer)
    (tmp_path / "a.json").write_text("```json\n" + json.dumps(answer) + "\n```")
    (tmp_path / "e.json").write_text(json.dumps({"evidence": EVIDENCE}))

    code, output = _run(
        "audit-lattice", str(tmp_path / "a.json"), "--evidence", str(tmp_path / "e.json")
    )

    assert (code, "STRICT" in output, "repaired: fence" in output) == (0, True, True)


def test_audit_lattice_against_a_captured_run(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The Ferrin Bridge opened in 1931. [E1]")
    trace = {
        "user_question": "?",
        "final_reply_to_user": "x",
        "full_tool_outputs": [{"tool_name": "search", "text": "The Ferrin Bridge opened in 1931."}],
    }
    (tmp_path / "t.jsonl").write_text(json.dumps(trace | {"question_id": "q"}))
    arguments = ("audit-lattice", str(tmp_path / "a.txt"))

    code, output = _run(*arguments, "--trace", str(tmp_path / "t.jsonl"))

    assert (code, "STRICT: 1 of 1 pair linked" in output) == (0, True), output
    assert _run(*arguments)[0] == 2


@pytest.mark.parametrize("evidence", ["not json", "3", "[3]"])
def test_audit_lattice_with_wrong_evidence_says_so(tmp_path: Path, evidence: str) -> None:
    (tmp_path / "a.txt").write_text("A. [E1]")
    (tmp_path / "e.json").write_text(evidence)

    code, output = _run(
        "audit-lattice", str(tmp_path / "a.txt"), "--evidence", str(tmp_path / "e.json")
    )

    assert code == 2
    assert "Traceback" not in output


def test_audit_envelope(tmp_path: Path) -> None:
    (tmp_path / "config.ts").write_text("// one\nconst DEFAULT_TTL_SECONDS = 60;\n")
    claim = {
        "claim": "The cache TTL defaults to 60 seconds.",
        "source": "file:config.ts:2",
        "evidence": "const DEFAULT_TTL_SECONDS = 60;",
        "confidence": "high",
    }
    envelope = {
        "claims": [claim, claim | {"source": "file:../../etc/passwd:1"}],
        "unverified": ["B"],
    }
    Draft202012Validator(schema("envelope")).validate(envelope)
    file = tmp_path / "e.json"
    file.write_text(json.dumps(envelope))
    arguments = ["audit-envelope", str(file), "--root", str(tmp_path)]

    code, output = _run(*arguments, "--json", str(tmp_path / "out.json"))

    document = _valid(tmp_path / "out.json", "envelope_audit")
    assert code == 0, output
    assert [one["passes"] for one in document["claims"]] == [True, False]  # type: ignore[index, attr-defined]
    assert document["unverified"] == ["B"]
    assert _run(*arguments, "--fail-on", "block")[0] == 1


def test_audit_envelope_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_text('{"claims": [{"claim": 3}]}')

    code, output = _run("audit-envelope", str(file))

    assert code == 2
    assert "claims[0].claim" in output
