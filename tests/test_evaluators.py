"""The evaluators inside the kits' own runs where the kits are installed, and as their signatures say."""

from __future__ import annotations

import inspect
import uuid
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from provenanceguard import evaluators

pytestmark = pytest.mark.usefixtures("weights_loaded_once")

QUESTION = "Which dose does she take?"
CHART = "Ada Lind. Medications: metformin 500 mg twice daily. Allergies: penicillin."
ANSWER = "Ada Lind takes metformin 500 mg twice daily and has no allergies."
GIVEN = {"answer": ANSWER, "tool_outputs": [{"tool_name": "load_chart", "text": CHART}]}
CALL = {"id": "c1", "type": "function", "function": {"name": "load_chart", "arguments": "{}"}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "function": "load_chart", "content": CHART},
    {"role": "assistant", "content": ANSWER},
]
CLOSED = [
    TALK[0],
    {"role": "assistant", "content": "Ada Lind takes ibuprofen."},
    {"role": "user", "content": "Are you sure?"},
    *TALK[1:],
]


def langsmith_row(target: Any) -> Any:
    kit = pytest.importorskip("langsmith")
    schemas = pytest.importorskip("langsmith.schemas")
    client = kit.Client(api_url="http://127.0.0.1:9", api_key="none", info=schemas.LangSmithInfo())
    example = schemas.Example(
        id=uuid.uuid4(),
        inputs={"question": QUESTION},
        dataset_id=uuid.uuid4(),
        created_at=datetime.now(UTC),
    )
    (row,) = kit.evaluate(
        target,
        data=[example],
        evaluators=[evaluators.langsmith],
        upload_results=False,
        client=client,
    )
    (found,) = row["evaluation_results"]["results"]
    return found


def test_langsmith_scores_the_tools_that_a_run_called() -> None:
    traceable = pytest.importorskip("langsmith").traceable

    @traceable(run_type="tool", name="load_chart")  # type: ignore[untyped-decorator]
    def load_chart(name: str) -> str:
        return CHART

    def target(inputs: dict[str, Any]) -> dict[str, str]:
        load_chart("Ada Lind")
        return {"answer": ANSWER}

    found = langsmith_row(target)

    assert (found.key, found.score, found.value) == ("provenance", 0.5, "block")
    assert "penicillin is on record" in found.comment


def test_langsmith_scores_the_outputs_that_a_target_gave_back() -> None:
    found = langsmith_row(lambda inputs: GIVEN)

    assert (found.score, found.value) == (0.5, "block")


@pytest.mark.parametrize(
    ("given", "score", "state"), [(GIVEN, 0.5, "block"), ("?", 0.0, "unavailable")]
)
def test_langfuse_keeps_a_number_and_a_state(given: object, score: float, state: str) -> None:
    kit = pytest.importorskip("langfuse")
    client = kit.Langfuse(
        public_key="none", secret_key="none", host="http://127.0.0.1:9", tracing_enabled=False
    )

    result = client.run_experiment(
        name="trial",
        data=[{"input": QUESTION}],
        task=lambda *, item, **_: given,
        evaluators=[evaluators.langfuse],
    )

    (item,) = result.item_results
    number, category = item.evaluations
    assert (number.name, number.value) == ("provenance", score)
    assert (category.name, category.value, category.data_type) == (
        "provenance_state",
        state,
        "CATEGORICAL",
    )


def test_phoenix_is_asked_by_the_names_that_it_binds_and_gets_the_keys_that_it_keeps() -> None:
    # phoenix.client.resources.experiments.evaluators: names of parameters, keys of a result.
    parameters = set(inspect.signature(evaluators.phoenix).parameters)
    assert parameters <= {"input", "output", "expected", "reference", "metadata"}

    found = evaluators.phoenix({"question": QUESTION}, {"messages": TALK})

    assert set(found) == {"label", "score", "explanation"}
    assert (found["score"], found["label"]) == (0.5, "block")


def test_inspect_scores_the_messages_of_a_task_state() -> None:
    state = SimpleNamespace(
        sample_id="s1", epoch=1, input_text=QUESTION, messages=TALK, output={"completion": ANSWER}
    )

    found = evaluators.inspect_ai(state)

    assert (found["value"], found["metadata"]) == (0.5, {"state": "block"})


def test_what_was_said_before_the_answer_counts() -> None:
    """The chart was read after it, so nothing stands for what was said without any output."""
    alone = evaluators.phoenix(QUESTION, {"messages": TALK})
    found = evaluators.phoenix(QUESTION, {"messages": CLOSED})

    assert found["score"] < alone["score"]
    assert "ibuprofen" in found["explanation"]


@pytest.mark.parametrize(
    "given", [None, "text", {"answer": ANSWER}, {"answer": ANSWER, "tool_outputs": [{"text": 1}]}]
)
def test_what_cannot_be_verified_scores_nothing_and_says_why(given: object) -> None:
    """An error would be left out of a kit's averages."""
    found = evaluators.phoenix(QUESTION, given)

    assert (found["score"], found["label"]) == (0.0, "unavailable")
    assert found["explanation"]


def test_an_answer_that_states_nothing_is_allowed() -> None:
    found = evaluators.phoenix(QUESTION, {**GIVEN, "answer": "Please ask her physician."})

    assert (found["score"], found["label"]) == (1.0, "allow")
