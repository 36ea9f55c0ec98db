"""For test suites of agents: assert that an answer rests on what the tools gave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.records import Decision, State
from provenanceguard.results import Verification
from provenanceguard.verifier import ToolOutput, Verifier, verify


def assert_grounded(
    answer: str,
    tool_outputs: Sequence[ToolOutput],
    question: str | None = None,
    *,
    allow_review: bool = False,
    nli: str | Path | None = None,
    verifier: Verifier | None = None,
) -> Verification:
    """Raise AssertionError, with every claim and reason, unless the answer is allowed.

    ``allow_review`` lets pass what could not be confirmed, and fails only on what is shown to be wrong or
    credited wrongly, and where there was nothing to verify (no answer, no output). Gives back the
    verification. ``nli`` as in `provenanceguard.verify`; a ``verifier`` brings its own models.

    >>> assert_grounded("She takes 20 mg.", [{"tool_name": "load_chart", "text": "Dose: 10 mg."}])
    Traceback (most recent call last):
    AssertionError: ...
    """
    __tracebackhide__ = True  # pytest points at the line of the test
    if verifier is None:
        found = verify(answer, tool_outputs, question, nli=nli)
    else:
        found = verifier.verify(answer, tool_outputs, question)
    passing = {State.ALLOW, State.NEEDS_REVIEW} if allow_review else {State.ALLOW}
    if found.state not in passing or found.decision == Decision.UNAVAILABLE:
        raise AssertionError(str(found))
    return found
