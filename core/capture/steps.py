"""A run that was logged step by step (spans, runs, observations), as the traces of what was said in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from core.capture.conversations import AnswersSeen, traces_of_conversation
from core.capture.files import FileRecord, each
from core.capture.merging import merge_calls
from core.capture.messages import not_understood
from core.capture.runs import turns_of
from core.capture.turns import (
    Called,
    CapturedCall,
    CapturedRun,
    Returned,
    Said,
    Turn,
    as_said,
    question_in,
)
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

Item = TypeVar("Item")
UNNAMED = "\x00"


@dataclass(slots=True, kw_only=True)
class Gathered(Generic[Item]):
    """What the records of a file tell of one trace, in their order; ``origin`` is the first of them.

    A ``trace_id`` that begins with UNNAMED was made for a trace that names itself nowhere.
    """

    trace_id: str
    origin: Origin
    items: list[Item] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what went into a model, what came out, and the call that it was."""

    before: Sequence[Turn] = ()
    after: Sequence[Turn] = ()
    call: CapturedCall | None = None


@dataclass(slots=True, kw_only=True)
class Run:
    """The steps in the order in which they began; ``asked`` and ``told`` are of the outermost one.

    ``unknown`` takes in the kinds of parts that were not understood, ``carried`` is what an export of
    ours put beside them, ``version`` that of the convention.
    """

    asked: Sequence[Turn] = ()
    told: Sequence[Turn] = ()
    steps: list[Step] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    carried: object = None
    version: str | None = None

    def model(self, given: object, told: object) -> None:
        """A step in which a model was given something and told something."""
        before = turns_of(given, "user", self.unknown)
        self.steps.append(Step(before=before, after=turns_of(told, "assistant", self.unknown)))


def gathered(
    records: Iterable[FileRecord | InputError],
    origin: Origin,
    items_in: Callable[[FileRecord], Iterable[tuple[str, Item] | BadRecord]],
    kind: str,
) -> Iterator[Gathered[Item] | InputError]:
    """What a file tells of each trace, when all has been read: the items of one may be far apart.

    ``items_in`` gives the items of a record with their trace ids, and what is none of their ``kind``.
    """
    traces: dict[str, Gathered[Item]] = {}

    def take(record: FileRecord) -> Iterator[Gathered[Item] | InputError]:
        first = dataclasses.replace(origin, line=record.line)
        item = None
        for item in items_in(record):
            if isinstance(item, BadRecord):
                yield item
                continue
            trace_id, value = item
            one = traces.setdefault(trace_id, Gathered(trace_id=trace_id, origin=first))
            one.items.append(value)
            one.notes.update(dict.fromkeys(record.notes))
        if item is None:
            yield BadRecord(f"no {kind} in this record")

    yield from each(records, origin.file, take)
    yield from traces.values()


def traces_of_runs(
    found: Iterable[Gathered[Item] | InputError], run_of: Callable[[Gathered[Item]], Run]
) -> Iterator[Trace | InputError]:
    """The traces of each run that was gathered, that of its answer last."""
    seen = AnswersSeen()
    for one in found:
        if isinstance(one, InputError):
            yield one
            continue
        logged = run_of(one)
        run = CapturedRun(
            origin=dataclasses.replace(one.origin, version=logged.version),
            trace_id=None if one.trace_id.startswith(UNNAMED) else one.trace_id or None,
            question=question_in(logged.asked),
            notices=(*one.notes, *not_understood(logged.unknown), *logged.notices),
            carried=logged.carried,
        )
        yield from _traces_of_steps(run, logged, seen)


def _traces_of_steps(run: CapturedRun, logged: Run, seen: AnswersSeen) -> Iterator[Trace]:
    """The traces of a run, that of its answer last.

    The answer is what the outermost step told, else the last text, if no call came after it. Each step
    repeats the conversation before it, and a text that no later step repeats was not shown.
    """
    known: dict[object, int] = {}
    turns = _new_turns(logged.asked, known)
    placed_calls: list[tuple[int, CapturedCall]] = []
    for step in logged.steps:
        turns += _new_turns([*step.before, *step.after], known)
        if step.call is not None:
            placed_calls.append((len(turns), step.call))
    turns += _new_turns(logged.told, known)
    asked = [t.text for t in logged.asked if isinstance(t, Said) and t.role == "user"]
    answer = _answer(turns, logged, asked if logged.carried is None else ())
    repeated = (*logged.asked, *logged.told, *(t for step in logged.steps for t in step.before))
    shown = {turn.text.strip() for turn in repeated if isinstance(turn, Said)}
    shown |= {turn.text.strip() for turn in turns if isinstance(turn, Said) and not logged.told}
    turns = [_heard(turn, answer, shown) for turn in turns]
    ids = {turn.call_id for turn in turns if isinstance(turn, Called | Returned)}

    def calls_of(head: Sequence[Turn]) -> list[CapturedCall]:
        here = {turn.call_id for turn in head if isinstance(turn, Called | Returned)}
        known_then = [
            one
            for place, one in placed_calls
            if one.call_id in here or (one.call_id not in ids and place < len(head))
        ]
        return merge_calls(head, known_then)

    calls = merge_calls(turns, [call for _, call in placed_calls])
    run = as_said(dataclasses.replace(run, calls=calls), turns, answer)
    yield from traces_of_conversation(run, turns, answer, seen, calls_of)


def _new_turns(turns: Sequence[Turn], seen: dict[object, int]) -> list[Turn]:
    """What a step adds to the steps before it, which repeat the conversation each time.

    ``seen`` counts how often each turn has stood in one step, and is brought up to date.
    """
    here: dict[object, int] = {}
    added = []
    for turn in turns:
        key = _turn_key(turn)
        here[key] = here.get(key, 0) + 1
        if here[key] > seen.get(key, 0):
            seen[key] = here[key]
            added.append(turn)
    return added


def _turn_key(turn: Turn) -> object:
    if isinstance(turn, Said):
        return "said", turn.role, turn.text.strip()
    if isinstance(turn, Called):
        return "called", turn.call_id or (turn.tool, turn.arguments)
    return "returned", turn.call_id or (turn.tool, turn.output)


def _answer(turns: Sequence[Turn], logged: Run, asked: Sequence[str]) -> str | None:
    for turn in (*reversed(logged.told), *reversed(turns)):
        if isinstance(turn, Called):
            return None
        if isinstance(turn, Said) and turn.is_answer:
            return None if turn.text in asked else turn.text
    return None


def _heard(turn: Turn, answer: str | None, shown: set[str]) -> Turn:
    """The turn as the user met it."""
    if not isinstance(turn, Said) or not turn.is_answer:
        return turn
    if answer is None:  # a run that ends in a call: all that was said stands beside it
        return dataclasses.replace(turn, calls_tools=True)
    text = turn.text.strip()
    heard = text == answer.strip() or text in shown
    return turn if heard else dataclasses.replace(turn, role="system")
