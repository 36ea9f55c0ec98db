"""Verdicts written back to a trace store, as scores, feedback or annotations on the trace they judge.

Every mark has an id made from the trace and what it tells, so that a push which is repeated, or goes
on after it broke off, writes what differs and nothing else.
"""

from __future__ import annotations

import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from urllib.parse import quote

from core.capture.conversations import turn_of
from core.capture.values import at, items_of, mapping
from core.errors import ComponentUnavailable
from core.records import (
    Judged,
    State,
    Verification,
    answer_state,
    state_of,
)
from core.workflows.store_client import StoreClient
from core.workflows.trace_stores import STORES, Mark, Marking

ANSWER, STOPPED, CLAIM = (
    "provenanceguard.answer", "provenanceguard.claims_stopped", "provenanceguard.claim",
)  # fmt: skip
_OURS = uuid.uuid5(uuid.NAMESPACE_URL, "https://provenanceguard/marks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """What is told of each answer beside its state and its claims by state.

    ``claims``: a mark a claim as well; ``explained``: also the reasons, which may quote the answer;
    ``workbench``: its address, for a link.
    """

    claims: bool = False
    explained: bool = False
    workbench: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where marks are written; with ``dry_run`` it is only asked what is there."""

    store: str
    project: str | None
    dry_run: bool = False


@dataclass(slots=True, kw_only=True)
class Pushed:
    """How many marks were written (or would be), stood there already, or are of no trace there."""

    store: str
    dry_run: bool = False
    answers: int = 0
    written: int = 0
    unchanged: int = 0
    unknown: int = 0

    def document(self) -> dict[str, object]:
        """The counts by name."""
        return asdict(self)


def push(
    target: Target,
    marks: Sequence[Mark],
    *,
    environment: Mapping[str, str] = os.environ,
    wait: Callable[[float], None] = time.sleep,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Pushed:
    """Write the marks that are not there yet, or differ.

    Raises ConfigError for a wrong setting or key, ComponentUnavailable where the store does not
    answer or refuses some of them: what was written before stays, and the next push goes on.
    """
    marking = STORES[target.store].marking
    answers = sum(mark.name == ANSWER for mark in marks)
    pushed = Pushed(store=target.store, dry_run=target.dry_run, answers=answers)
    with StoreClient(target.store, environment, wait) as client:
        known = client.project(target.project)
        done = 0
        for some in _batches(marks, marking):
            _push(client, marking, known, some, pushed)
            done += len(some)
            if progress:
                progress(done, len(marks), "marks")
    return pushed


def _batches(marks: Sequence[Mark], marking: Marking) -> Iterator[list[Mark]]:
    for _, same in groupby(marks, attrgetter("trace")):
        rest = list(same)
        while rest:
            yield rest[: marking.at_once]
            rest = rest[marking.at_once :]


def _push(
    client: StoreClient, marking: Marking, project: str, marks: list[Mark], pushed: Pushed
) -> None:
    if marking.uuids and not _is_uuid(marks[0].trace):
        pushed.unknown += len(marks)
        return
    page = client.answer(marking.listed(project, marks), absent=True)
    listed = items_of(at(page, *marking.items)) if marking.items else (page,)
    there = {str(at(item, marking.key)): mapping(item) for item in listed}
    bodies = []
    for mark in marks:
        old = there.get(mark.id)
        body = marking.body(mark, project, old)
        if old is not None and all(_same(body.get(k), old.get(k)) for k in marking.compared):
            pushed.unchanged += 1
        else:
            bodies.append(body)
    if bodies and not pushed.dry_run:
        request = marking.written(bodies, any(at(b, marking.key) in there for b in bodies))
        told = client.answer(request, absent=True)
        if told is None:
            pushed.unknown += len(bodies)
            return
        if at(told, "rejected"):
            raise ComponentUnavailable(
                f"{pushed.store} refused {at(told, 'rejected')} of {len(bodies)} scores "
                f"of the trace {marks[0].trace:.80}"
            )
    pushed.written += len(bodies)


def _same(ours: object, theirs: object) -> bool:
    """Whether a store holds what we would write; what it leaves empty is not there."""
    if isinstance(ours, Mapping):
        held = {k: v for k, v in mapping(theirs).items() if v is not None}
        return dict(ours) == held
    return ours == theirs


def marks_of(verified: Iterable[Verification], made: datetime, telling: Telling) -> list[Mark]:
    """The marks of verdicts, a trace's together; of two verdicts on one answer the later one counts."""
    when = made.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    found: dict[str, list[Mark]] = {}
    for one in verified:
        found[one.trace.trace_id] = list(_marks(one, when, telling))
    together = sorted(found.values(), key=lambda marks: marks[0].trace)
    return [mark for marks in together for mark in marks]


def _marks(one: Verification, when: str, telling: Telling) -> Iterator[Mark]:
    trace, turn = turn_of(one.trace.trace_id)
    states = Counter(state_of(claim) for claim in one.claims if claim.verdict is not None)
    counts = {"claims": states.total(), **{str(state): states[state] for state in State}}
    link = ""
    if telling.workbench:
        link = f"{telling.workbench.rstrip('/')}/verdict?trace={quote(one.trace.trace_id, safe='')}"

    def mark(name: str, value: str | float, about: str, comment: str, **more: object) -> Mark:
        return Mark(
            id=str(uuid.uuid5(_OURS, "\x1f".join((trace, name, about)))),
            trace=trace,
            name=name,
            value=value,
            comment=" ".join(filter(None, (comment, link))),
            metadata={"answer": one.trace.trace_id, **more},
            at=when,
        )

    answer = f"{answer_state(one)}: " + ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in counts.items()
    )
    said = "; ".join(one.answer.reasons) if telling.explained else ""
    yield mark(
        ANSWER, str(answer_state(one)), turn, ". ".join(filter(None, (answer, said))), **counts
    )
    yield mark(STOPPED, float(counts["claims"] - counts["allow"]), turn, answer, **counts)
    if not telling.claims:
        return
    for claim in one.claims:
        if claim.verdict is None:
            continue
        told: dict[str, Any] = {"verdict": str(claim.verdict)}
        if isinstance(claim.outcome, Judged):
            told["probability"] = claim.outcome.support.probability
            told["source"] = claim.outcome.premise.source_id
        said = f"{claim.claim.text}: {'; '.join(claim.reasons)}" if telling.explained else ""
        name = claim.claim.claim_id
        yield mark(CLAIM, str(state_of(claim)), turn + name, said or name, claim=name, **told)


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
