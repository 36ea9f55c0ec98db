"""A run that was logged step by step (spans, runs, observations), as the traces of what was said in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.outputs import CapturedCall, CapturedRun
from core.capture.runs import calls, says
from core.capture.spans import SpanCall, merge_calls, new_turns
from core.capture.turns import Called, Returned, Said, Turn, read_conversation
from core.records import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what went into a model, what came out, and the call that it was."""

    before: Sequence[Turn] = ()
    after: Sequence[Turn] = ()
    call: SpanCall | None = None


@dataclass(slots=True, kw_only=True)
class Run:
    """The steps in the order in which they began; ``asked`` and ``told`` are of the outermost one."""

    asked: Sequence[Turn] = ()
    told: Sequence[Turn] = ()
    steps: list[Step] = field(default_factory=list)


def traces_of_steps(run: CapturedRun, logged: Run, seen: AnswersSeen) -> Iterator[Trace]:
    """The traces of a run, that of its answer last; ``run`` has what the format knows beside the steps.

    The answer is what the outermost step told, else the last text, if no call came after it. Each step
    repeats the conversation before it, and a text that no later step repeats was not shown.
    """
    known: dict[object, int] = {}
    turns = new_turns(logged.asked, known)
    placed: list[tuple[int, SpanCall]] = []
    for step in logged.steps:
        turns += new_turns([*step.before, *step.after], known)
        if step.call is not None:
            placed.append((len(turns), step.call))
    turns += new_turns(logged.told, known)
    asked = [t.text for t in logged.asked if isinstance(t, Said) and t.role == "user"]
    answer = _answer(turns, logged, asked if run.carried is None else ())
    repeated = (*logged.asked, *logged.told, *(t for step in logged.steps for t in step.before))
    shown = {turn.text.strip() for turn in repeated if isinstance(turn, Said)}
    shown |= {turn.text.strip() for turn in turns if isinstance(turn, Said) and not logged.told}
    turns = [_heard(turn, answer, shown) for turn in turns]
    talk = read_conversation(turns, answer)
    described = [call for _, call in placed]
    ids = {turn.call_id for turn in turns if isinstance(turn, Called | Returned)}

    def calls_of(head: Sequence[Turn]) -> list[CapturedCall]:
        here = {turn.call_id for turn in head if isinstance(turn, Called | Returned)}
        known_then = [
            one
            for place, one in placed
            if one.call.call_id in here or (one.call.call_id not in ids and place < len(head))
        ]
        return merge_calls(head, known_then)

    whole = dataclasses.replace(
        run,
        question=read_conversation(logged.asked, None).question if asked else talk.question,
        answer=talk.answer,
        earlier=talk.earlier,
        calls=merge_calls(turns, described),
        citations=talk.citations,
        notices=(*run.notices, *talk.notices),
    )
    yield from traces_of_conversation(whole, turns, answer, seen, calls_of)


def _answer(turns: Sequence[Turn], logged: Run, asked: Sequence[str]) -> str | None:
    for told in (logged.told, turns):
        last = next((turn for turn in reversed(told) if says(turn) or calls(turn)), None)
        if isinstance(last, Said):
            return None if last.text in asked else last.text
        if isinstance(last, Called):
            return None
    return None


def _heard(turn: Turn, answer: str | None, shown: set[str]) -> Turn:
    """The turn as the user met it."""
    if not isinstance(turn, Said) or not says(turn):
        return turn
    if answer is None:  # a run that ends in a call: all that was said stands beside it
        return dataclasses.replace(turn, calls_tools=True)
    text = turn.text.strip()
    return (
        turn
        if text == answer.strip() or text in shown
        else dataclasses.replace(turn, role="system")
    )
