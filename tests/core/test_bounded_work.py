"""What one answer may cost: it grows with its length, and what is beyond a stated limit is unjudged."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable

import pytest
from builders import a_source, a_trace
from lexical import lexical_models

from core.config import Config
from core.decomposition.claims import MOST_ANSWER, MOST_CHARACTERS, MOST_VALUES
from core.pipeline import verify
from core.records import Decision, Unjudged, Verification

DRUGS = [{"name": f"drug{n}", "dose": f"{n} mg", "level": n * 1.5} for n in range(40)]
SOURCES = (
    a_source("The dose is 4 mg. name: Elena Marchetti\nItem 3: 43 mg. Her mother has gout."),
    a_source(
        json.dumps({"patient": "Elena Marchetti", "medications": DRUGS}),
        source_id="record",
        tool_name="get_record",
    ),
)
WORDS = "alpha dose level rate with for the patient his a and 4 mg 12.5 no mother of".split()


def words(n: int) -> str:
    drawn = random.Random(n)
    return " ".join(drawn.choice(WORDS) for _ in range(n))


GROWING: dict[str, Callable[[int], str]] = {
    "list": lambda n: "\n".join(f"- Item {i}: {i} mg, {words(3)}" for i in range(n)),
    "nested list": lambda n: "\n".join("  " * (i % 9) + f"- drug{i} {i} mg" for i in range(n)),
    "sentences": lambda n: " ".join(f"The dose of drug{i} is {i} mg." for i in range(n)),
    "headings": lambda n: "\n".join(f"# Part {i}\n\nThe level is {i} mg.\n" for i in range(n)),
    "table": lambda n: "| a | b |\n|---|---|\n" + "\n".join(f"| x{i} | {i} |" for i in range(n)),
    "code": lambda n: "```python\n" + "\n".join(f"x{i} = {i}" for i in range(n)) + "\n```",
    "quotes": lambda n: "\n".join("> " * (i % 7 + 1) + f"Said {i} mg." for i in range(n)),
    "cited": lambda n: " ".join(f"The dose is {i} mg [{i}]." for i in range(n)),
    "references": lambda n: (
        "The dose is 4 mg [1].\n\n## References\n"
        + "\n".join(f"[{i}] Smith, Journal {i}. doi:10.1000/{i}" for i in range(n))
    ),
    "studies": lambda n: " ".join(f"Smith et al. ({1900 + i}) found {i} mg." for i in range(n)),
}
# Each was slow enough to hold a service, or is next of kin to one that was.
COSTLY: dict[str, str] = {
    "one list in a line": "The patient takes "
    + ", ".join(f"d{i} {i} mg" for i in range(400))
    + ".",
    "semicolons": "The doses are " + "; ".join(f"{i} mg" for i in range(400)) + ".",
    "one long sentence": f"The {words(6_000)}.",
    "joined by and": "The dose is 4 mg" + " and the level is 5 mg" * 1_500 + ".",
    "links": "[a](b) " * 250,
    "articles": "Aspirin " + "a " * 200 + "b.",
    "relatives": "Aspirin " + "the older half " * 100 + "b.",
    "opened brackets": "[a](" * 1_500,
    "opened images": "![" * 1_000,
    "ticks": " ".join("`" * (i % 50 + 1) + "a" for i in range(1_000)),
    "marks": "The dose is 4 mg" + "[1]" * 1_500 + ".",
    "colons": "a: " * 600,
    "spaces": "a" + " " * 12_000 + "b",
    "stars": "**a" * 4_000,
    "tags": "<div>" * 1_000,
}


def judged(answer: str) -> tuple[Verification, float]:
    """The verdict and the seconds of processor that it took."""
    trace = a_trace(answer, *SOURCES)
    begun = time.process_time()
    found = verify(trace, lexical_models(), Config())
    return found, time.process_time() - begun


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    judged("The dose of aspirin is 4 mg. Elena Marchetti takes drug3.")


@pytest.mark.stress
@pytest.mark.parametrize("shape", GROWING)
def test_work_grows_with_the_length_of_an_answer(shape: str) -> None:
    make = GROWING[shape]

    # Four times as much: quadratic work would take sixteen times as long. A busy machine may disturb
    # one measurement, not three.
    for _ in range(3):
        few, many = judged(make(10))[1], judged(make(40))[1]
        if many < 8 * max(few, 0.1):
            return
    pytest.fail(f"10 pieces took {few:.2f} s, 40 took {many:.2f} s")


@pytest.mark.parametrize("shape", COSTLY)
def test_no_answer_is_costly(shape: str) -> None:
    assert judged(COSTLY[shape])[1] < 10


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("The dose is " + "very " * (MOST_CHARACTERS // 5) + "low.", "characters"),
        (
            "The doses are " + " ".join(f"{n} mg" for n in range(MOST_VALUES + 1)) + ".",
            "values",
        ),
        ("The dose is 4 mg.\n" * (MOST_ANSWER // 18 + 1), f"{MOST_ANSWER:,}"),
        ("[a](" * 32_000, f"{MOST_ANSWER:,}"),
    ],
)
def test_what_is_beyond_a_limit_is_unjudged_and_blocks(answer: str, why: str) -> None:
    verification, _ = judged(answer)

    beyond = [verdict for verdict in verification.claims if verdict.claim.beyond_limit]
    assert [isinstance(verdict.outcome, Unjudged) for verdict in beyond] == [True]
    assert why in (beyond[0].claim.reason or "")
    assert verification.answer.decision is Decision.BLOCK
    assert any(why in reason for reason in verification.answer.reasons)
