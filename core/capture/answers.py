"""A conversation as traces: one for its last answer, and one for each text that it showed before.

A closing word ("You are welcome!") must not stand for what was said before it, be it in a turn of its
own or beside a call, so everything said with evidence is judged, each with the outputs known by then.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence

from core.capture.outputs import CapturedCall, CapturedRun, trace_of_run
from core.capture.turns import Said, Turn, final_place, other_answers, pair_calls, read_conversation
from core.records import Trace

_EARLIER = re.compile(r"::t\d+(?:~\d+)?$")

CallsOf = Callable[[Sequence[Turn]], Sequence[CapturedCall]]


class AnswersSeen:
    """The answers of one file so far: a log that repeats what was said before tells each once."""

    def __init__(self) -> None:
        self._ends: set[int] = set()  # hashes of the turns up to an answer

    def is_new(self, turns: Sequence[Turn]) -> bool:
        """Whether no conversation that ends with these turns was asked about before."""
        end = hash(tuple(turns))
        known = end in self._ends
        self._ends.add(end)
        return not known


def traces_of_conversation(
    run: CapturedRun,
    turns: Sequence[Turn],
    response: str | None,
    seen: AnswersSeen,
    calls_of: CallsOf = pair_calls,
) -> Iterator[Trace]:
    """The traces of the earlier answers, the oldest first, and behind them that of the run itself.

    Earlier ones have the id of the run with ``::t1``, ``::t2``, … behind it; ``calls_of`` gives the
    calls that some first turns tell of. An answer before any call has no evidence and no trace.
    """
    last = trace_of_run(run)
    final = final_place(turns, response)
    without = 0
    for number, place in enumerate(other_answers(turns, final), 1):
        head = turns[: place + 1]
        calls = calls_of(head)
        without += not calls
        if calls and seen.is_new(head):
            name = f"{last.trace_id}::t{number}"
            yield _earlier(run, name, head, calls)
    seen.is_new(turns[: final + 1])
    if without:
        told = f"{without} earlier texts were said before any tool call and are not judged"
        last = dataclasses.replace(last, notices=(*last.notices, told))
    yield last


def is_earlier_answer(trace_id: str) -> bool:
    """Whether a trace stands for an answer before the last one of its conversation."""
    return _EARLIER.search(trace_id) is not None


def _earlier(
    run: CapturedRun, name: str, head: Sequence[Turn], calls: Sequence[CapturedCall]
) -> Trace:
    *before, said = head
    if isinstance(said, Said):
        said = dataclasses.replace(said, calls_tools=False)
    talk = read_conversation([*before, said], None)
    return trace_of_run(
        dataclasses.replace(
            run,
            trace_id=name,
            question=talk.question,
            answer=talk.answer,
            earlier=talk.earlier,
            calls=calls,
            citations=talk.citations,
            elapsed_seconds=None,
            notices=("an earlier answer of a conversation; what came after it is no evidence",),
            extra={},
            carried=None,
        )
    )
