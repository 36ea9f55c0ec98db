"""Calls seen on the wire, in the place of what transcripts tell of them.

A wire log has neither question nor answer: by itself it makes traces without an answer.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.capture.conversations import is_earlier_answer
from core.capture.echoes import without_echoes
from core.capture.outputs import distinct_sources, sources_of_call, trace_of_run
from core.capture.turns import CapturedCall, CapturedRun
from core.codec import canonical_json
from core.errors import InputError
from core.records import Origin, Source, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One call of a log; ``run`` is the id of the trace that it belongs to, when the log names it."""

    call: CapturedCall
    run: str | None
    origin: Origin
    arguments: str | None  # canonical, to compare with


def traces_of_log(calls: Sequence[LoggedCall]) -> Iterator[Trace]:
    """Traces without question and answer, one for each file and each trace id named in it."""
    groups: dict[tuple[str | None, str | None], list[LoggedCall]] = {}
    for logged in calls:
        groups.setdefault((logged.origin.file, logged.run), []).append(logged)
    for (_, run), members in groups.items():
        yield trace_of_run(
            CapturedRun(
                origin=members[0].origin,
                trace_id=run,
                question="",
                answer=None,
                calls=[member.call for member in members],
                notices=("an MCP log holds neither the question nor the answer",),
            )
        )


def joined(
    items: Iterator[Trace | InputError], log: list[LoggedCall]
) -> Iterator[Trace | InputError]:
    """The traces with what the log says about their calls, which are taken out of it."""
    held: Trace | None = None
    several = False
    for item in items:
        if isinstance(item, InputError) or not log:
            yield item
            several = several or isinstance(item, Trace)
        elif is_earlier_answer(item.trace_id):
            # The last answer of the conversation takes the same calls out of the log.
            yield _join(item, list(log), only=False)
        else:
            if held is not None:
                several = True
                yield _join(held, log, only=False)
            held = item
    if held is not None:
        yield _join(held, log, only=not several)


def _join(trace: Trace, log: list[LoggedCall], *, only: bool) -> Trace:
    """The trace with the raw results of its calls from the log.

    Calls match by tool and arguments, in order, and where the log names a trace id, by that too.
    ``only``: this is the one trace there is, so calls that match nothing belong to it as well.
    """
    groups: list[Sequence[Source]] = []
    count = 0
    for source in trace.sources:
        given = canonical(source.arguments)
        found = next((x for x in log if _matches(x, source, given, trace.trace_id)), None)
        if found is None:
            groups.append([source])
            continue
        log.remove(found)
        count += 1
        call = dataclasses.replace(found.call, call_id=source.call_id or found.call.call_id)
        groups.append(sources_of_call(call))
    rest = [logged for logged in log if only or (logged.run and logged.run == trace.trace_id)]
    for logged in rest:
        log.remove(logged)
        groups.append(sources_of_call(logged.call))
    if not count and not rest:
        return trace
    sources, notices = distinct_sources(groups)
    return dataclasses.replace(
        trace,
        sources=without_echoes(trace.question, sources),
        tool_calls=(*trace.tool_calls, *(logged.call.tool for logged in rest)),
        notices=(
            *trace.notices,
            *([f"{count} outputs were taken from the MCP log"] if count else []),
            *([f"{len(rest)} calls stand only in the MCP log"] if rest else []),
            *notices,
        ),
    )


def _matches(logged: LoggedCall, source: Source, given: str | None, trace_id: str) -> bool:
    call = logged.call
    names = {call.tool, *(f"{call.server}{mark}{call.tool}" for mark in ("__", ".", "-", "/", "_"))}
    right_server = not source.server or call.server in (None, source.server)
    if source.tool_name not in names or not right_server:
        return False
    if logged.run is not None and trace_id and logged.run != trace_id and len(trace_id) == 32:
        return False
    return None in (given, logged.arguments) or given == logged.arguments


def canonical(arguments: str | None) -> str | None:
    """Arguments in the one spelling in which they can be compared."""
    if arguments is None:
        return None
    try:
        return canonical_json(json.loads(arguments) or {})
    except (ValueError, RecursionError):
        return arguments
