"""Evaluators for LangSmith, Langfuse, Phoenix and Inspect: they take what a kit hands an evaluator.

The score is the share of the answer's statements that are allowed, from 0 to 1; the label is the worst
state: allow, needs_review, block, or unavailable where nothing could be verified, which scores 0. The
explanation is the answer claim by claim, what is wrong first.

A task gives back what any reader of captured runs knows: ``{"answer": …, "tool_outputs": […]}``, or
``{"messages": […]}`` with the tools' messages in it. All that was told the user is scored, also before
the last answer. One answer is read at a time, whatever the kit runs side by side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.capture.files import FileRecord, cleaned
from core.errors import InputError
from core.records.basics import Decision
from core.records.state import State, worst_state
from provenanceguard.verifier import verify_traces

if TYPE_CHECKING:
    from langfuse import Evaluation

NAME = "provenance"
_READ = ("tool", "retriever")
_RUN = (
    "id",
    "trace_id",
    "name",
    "run_type",
    "inputs",
    "outputs",
    "error",
    "start_time",
    "dotted_order",
)
_one_at_a_time = Lock()

Score = tuple[
    float, str, str
]  # the share of allowed statements, the worst state, every claim in words


def langsmith(run: Any, example: Any = None) -> dict[str, Any]:
    """For ``evaluate(…, evaluators=[langsmith])``: a run with its tool runs, else what its target gave.

    ``key``, ``score``, ``value`` (the state) and ``comment``, as LangSmith's EvaluationResult has them.
    """
    tree = _run(run)
    if _has_tools(tree):
        score, state, why = _scored(tree, "langsmith")
    else:
        score, state, why = _scored(_asked(run.outputs, getattr(example, "inputs", None)))
    return {"key": NAME, "score": score, "value": state, "comment": why}


def langfuse(*, input: Any, output: Any, **_: Any) -> list[Evaluation]:
    """For ``run_experiment(…, evaluators=[langfuse])``: a numeric score, and the state as a category."""
    from langfuse import Evaluation

    score, state, why = _scored(_asked(output, input))
    return [
        Evaluation(name=NAME, value=score, comment=why),
        Evaluation(name=f"{NAME}_state", value=state, data_type="CATEGORICAL"),
    ]


def phoenix(input: Any, output: Any) -> dict[str, Any]:
    """For ``run_experiment(…, evaluators={"provenance": phoenix})``: score, label and explanation."""
    score, state, why = _scored(_asked(output, input))
    return {"score": score, "label": state, "explanation": why}


def inspect_ai(state: Any) -> dict[str, Any]:
    """What ``Score(**inspect_ai(state))`` takes in a scorer of Inspect; ``state`` is its TaskState."""
    sample = {
        "id": state.sample_id,
        "epoch": state.epoch,
        "input": state.input_text,
        "messages": state.messages,
        "output": state.output,
    }
    score, found, why = _scored(sample, "inspect_ai")
    return {"value": score, "explanation": why, "metadata": {"state": found}}


def _scored(captured: object, format: str = "auto") -> Score:
    from core.capture.reading import read_records_of
    from core.workflows.earlier_answers import EarlierAnswers

    plain = json.loads(json.dumps(captured, default=_plain))
    try:
        traces = []
        for one in read_records_of([FileRecord(cleaned(plain)[0], 1)], format):
            if isinstance(one, InputError):
                raise one
            traces.append(one)
    except InputError as error:  # a kit leaves out of its averages what an evaluator raises
        return 0.0, str(Decision.UNAVAILABLE), str(error)
    with _one_at_a_time:
        found = list(verify_traces(traces))
    if not found or any(one.decision == Decision.UNAVAILABLE for one in found):
        why = "\n\n".join(map(str, found)) or "No answer could be read."
        return 0.0, str(Decision.UNAVAILABLE), why
    claims = [claim for one in found for claim in one.claims if claim.verdict is not None]
    state, parts = worst_state(one.state for one in found), [str(one) for one in found]
    said = EarlierAnswers()
    for trace in traces:
        said.add(trace)
    if earlier := said.not_judged():
        state = worst_state((state, State.NEEDS_REVIEW))
        parts += [f"Said before the answer, and not judged: {text}" for text in sorted(earlier)]
    total = len(claims) + len(earlier)
    allowed = sum(claim.state is State.ALLOW for claim in claims)
    return allowed / total if total else 1.0, state.value, "\n\n".join(parts)


def _asked(output: object, given: object) -> object:
    """What a task gave back, with the question that it was given, where it does not name one itself."""
    question = given.get("question") if isinstance(given, Mapping) else given
    if isinstance(output, Mapping) and "answer" in output and isinstance(question, str):
        return {"question": question, **output}
    return output


def _run(run: Any) -> dict[str, Any]:
    fields = {name: getattr(run, name, None) for name in _RUN}
    return {**fields, "child_runs": [_run(child) for child in run.child_runs or ()]}


def _has_tools(run: Mapping[str, Any]) -> bool:
    return any(child["run_type"] in _READ or _has_tools(child) for child in run["child_runs"])


def _plain(value: Any) -> object:
    """Messages of the kits are pydantic models; identifiers and times are text."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)
