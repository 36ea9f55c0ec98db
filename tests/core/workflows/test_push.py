"""Verdicts written back to a server that keeps scores, feedback and annotations as the stores do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langfuse.api import LangfuseAPI
from langsmith import Client as LangSmith

from core.capture.files import write_json
from core.capture.reading import read_traces
from core.errors import ComponentUnavailable, ConfigError
from core.records import AnswerDecision, Decision, Trace, Verification, answer_state
from core.workflows.push import ANSWER, Pushed, Target, Telling, marks_of, push
from core.workflows.verdict_file import verdict_line
from tests.commands import run
from tests.trace_store import SECRET, Served, each_store, serving
from tests.verdicts import showcase

MADE = datetime(2026, 11, 29, 12, tzinfo=UTC)
ALL = Telling(claims=True, explained=True, workbench="https://review.example/")
PROJECTS = {"langfuse": None, "langsmith": "clinic", "phoenix": "the clinic"}


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(request.param) as store:
        yield store


def verdict_on(served: Served, tmp_path: Path) -> Verification:
    """A verdict under the id that the store's trace has when it is read from a pulled file."""
    file = tmp_path / "pulled.jsonl"
    file.write_text("".join(write_json(record) + "\n" for record in served.records))
    (trace,) = read_traces([file])
    assert isinstance(trace, Trace)
    return showcase(trace.trace_id)


def allowed(verdict: Verification) -> Verification:
    answer = AnswerDecision(decision=Decision.ALLOW, reasons=("All is said there.",))
    return replace(verdict, claims=(), answer=answer)


def pushed_to(
    served: Served, *verified: Verification, telling: Telling = ALL, **more: Any
) -> Pushed:
    dry_run = more.pop("dry_run", False)
    target = Target(store=served.store, project=PROJECTS[served.store], dry_run=dry_run)
    options = {"environment": served.environment, "wait": pytest.fail, **more}
    return push(target, marks_of(verified, MADE, telling), **options)


@each_store
def test_a_second_push_changes_nothing_and_another_verdict_its_marks_alone(served, tmp_path):
    verdict = verdict_on(served, tmp_path)

    dry = pushed_to(served, verdict, dry_run=True)
    assert not served.writes and not served.marks
    first = pushed_to(served, verdict)

    assert dry.written == first.written == len(served.marks) > 2 and first.answers == 1
    kept, writes = json.dumps([*served.marks.values()]), len(served.writes)
    assert "https://review.example/verdict?trace=" in kept and verdict.answer.reasons[0] in kept
    again = pushed_to(served, verdict)
    assert (again.written, again.unchanged) == (0, first.written)
    assert len(served.writes) == writes and json.dumps([*served.marks.values()]) == kept

    changed = pushed_to(served, verdict, allowed(verdict))
    assert changed.written == 2 and len(served.marks) == first.written
    assert '"allow"' in json.dumps([*served.marks.values()])


@each_store
def test_nothing_of_the_answer_is_told_unless_it_is_asked_for(served, tmp_path):
    verdict = verdict_on(served, tmp_path)

    pushed_to(served, verdict, telling=Telling(claims=True))

    told = json.dumps([*served.marks.values()])
    assert not any(claim.claim.text in told for claim in verdict.claims)
    assert verdict.answer.reasons[0] not in told and SECRET not in told
    assert str(answer_state(verdict)) in told and "claims" in told


@each_store
def test_a_push_that_broke_off_goes_on_where_it_was(served, tmp_path):
    verdict = verdict_on(served, tmp_path)
    earlier = replace(verdict.trace, trace_id=f"{verdict.trace.trace_id}::t1")
    both = (replace(verdict, trace=earlier), verdict)
    # Both are of one trace, and none takes the place of the other.
    count = len(marks_of(both, MADE, ALL))
    projects = [None] if served.store == "langsmith" else []
    served.instead = [*projects, None, (507, {}, b"")]

    with pytest.raises(ComponentUnavailable, match="status 507"):
        pushed_to(served, *both)
    waited: list[float] = []
    served.instead = [*projects, (429, {"Retry-After": "7"}, b"")]
    rest = pushed_to(served, *both, wait=waited.append)

    assert waited == [7] and rest.written + rest.unchanged == count == len(served.marks)


@each_store
def test_a_trace_that_the_store_does_not_have_is_counted_and_stops_nothing(served, tmp_path):
    verdict = verdict_on(served, tmp_path)
    others = ["q-1", "0b6d3ce4-3a52-4a9c-8a10-0c1c6d0f7aff"]
    strange = [replace(verdict, trace=replace(verdict.trace, trace_id=one)) for one in others]

    pushed = pushed_to(served, *strange, verdict)

    # Langfuse takes scores of traces that come later, and so never says which are not there.
    many = 0 if served.store == "langfuse" else len(marks_of(strange, MADE, ALL))
    assert pushed.unknown == many and pushed.written == len(served.marks) > 2


@each_store
def test_a_refused_key_is_named_by_its_variable(served, tmp_path, monkeypatch):
    verdict = verdict_on(served, tmp_path)
    file = tmp_path / "verdicts.jsonl"
    file.write_bytes(verdict_line(verdict))
    project = PROJECTS[served.store]
    named = ("--project", project) if project else ()
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)

    done = run("push", served.store, file, *named, "--workbench", "https://review.example")

    assert done.exit_code == 0 and "1 answer: 2 marks written" in done.output, done.output
    assert run("push", served.store, file, *named, "--workbench", "javascript:x").exit_code == 2
    wrong = {k: f"{v}-old" if v == SECRET else v for k, v in served.environment.items()}
    with pytest.raises(ConfigError, match="refused the key in"):
        pushed_to(served, verdict, environment=wrong)


@pytest.mark.parametrize("served", ["langfuse"], indirect=True)
def test_scores_that_langfuse_refuses_are_told_and_not_sent_again(served, tmp_path):
    told = {"accepted": 1, "rejected": 1, "errors": [{"message": "no"}]}
    served.instead = [None, (207, {}, json.dumps(told).encode())]

    with pytest.raises(ComponentUnavailable, match="refused 1 of 2 scores"):
        pushed_to(served, verdict_on(served, tmp_path), telling=Telling())

    assert not served.writes


@pytest.mark.parametrize("served", ["langfuse", "langsmith"], indirect=True)
def test_the_official_clients_read_what_was_written(served, tmp_path):
    verdict = verdict_on(served, tmp_path)
    (mark, *_) = marks_of([verdict], MADE, Telling())
    assert mark.name == ANSWER

    pushed_to(served, verdict, telling=Telling())

    if served.store == "langfuse":
        url = served.environment["LANGFUSE_BASE_URL"]
        client = LangfuseAPI(base_url=url, username="pk-1", password=SECRET)
        (found,) = client.scores.get_many(id=mark.id, fields="details").data
        assert (found.name, found.value, found.comment) == (mark.name, mark.value, mark.comment)
    else:
        url = served.environment["LANGSMITH_ENDPOINT"]
        feedback = LangSmith(api_url=url, api_key=SECRET, info={}).read_feedback(mark.id)
        assert (feedback.key, feedback.value) == (mark.name, mark.value)
        assert str(feedback.trace_id) == verdict.trace.trace_id
