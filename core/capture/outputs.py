"""From captured tool calls to the sources of a trace: what every imported format shares."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence

from core.capture.carried import CHANGED, restored
from core.capture.echoes import without_echoes
from core.capture.readable.structured import Unfolded, unfold_output
from core.capture.status import status_of
from core.capture.turns import CapturedCall, CapturedRun
from core.capture.values import parsed, text_in
from core.codec import content_hash
from core.records import Citation, Source, SourceStatus, Span, Trace
from core.text.citation_marks import citations_in, order_doubt, source_named

_META_TOOL = re.compile(
    r"(?:execute|call|invoke|run|use)[-_ ]?(?:mcp[-_ ]?)?tool(?:[-_ ]?call)?$", re.I
)
_MCP_NAME = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)$")


def trace_of_run(run: CapturedRun) -> Trace:
    """The trace of a logged run; without an id of its own it is named by its content hash.

    A run that was written by an export of ours comes back as the trace that was exported.
    """
    if run.carried is not None:
        told = [(call.tool, call.output) for call in run.calls]
        trace = restored(run.carried, run.question, run.answer, told, run.origin)
        if trace is not None:
            return dataclasses.replace(trace, notices=(*trace.notices, *run.notices))
        run = dataclasses.replace(run, carried=None, notices=(*run.notices, CHANGED))
    calls = [resolve_call(call) for call in run.calls]
    sources, notices = distinct_sources(sources_of_call(call) for call in calls)
    sources = without_echoes(run.question, sources)
    doubt = None if run.citations else order_doubt(run.answer, sources)
    trace = Trace(
        trace_id=run.trace_id or "",
        question=run.question,
        answer=run.answer,
        sources=sources,
        earlier=tuple(run.earlier),
        category=run.category,
        route=run.route,
        tool_calls=tuple(call.tool for call in calls),
        citations=_citations(run, sources),
        elapsed_seconds=run.elapsed_seconds,
        origin=run.origin,
        notices=(*run.notices, *notices, *([doubt] if doubt else [])),
        extra=run.extra,
    )
    return trace if run.trace_id else dataclasses.replace(trace, trace_id=content_hash(trace))


def resolve_call(call: CapturedCall) -> CapturedCall:
    """The call with the real server and tool, where a gateway's tool name hides them.

    ``execute-tool {server_name, tool_name, params}`` and ``mcp__server__tool`` are such names.
    """
    named = _MCP_NAME.match(call.tool)
    if named and call.server is None:
        return dataclasses.replace(call, server=named["server"], tool=named["tool"])
    if not _META_TOOL.search(call.tool) or not call.arguments:
        return call
    arguments = parsed(call.arguments)
    tool = text_in(arguments, "tool_name", "toolName", "tool", "name")
    if tool is None or not isinstance(arguments, Mapping):
        return call
    keys = ("params", "arguments", "args", "input", "tool_input")
    inner = next((arguments[key] for key in keys if key in arguments), None)
    server = text_in(arguments, "server_name", "serverName", "server", "server_label")
    return dataclasses.replace(
        call,
        tool=tool,
        server=server or call.server,
        arguments=inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False),
        extra={**call.extra, "called_through": call.tool},
    )


def source_id_of(call: CapturedCall) -> str:
    """``server/tool#call_id``, without the parts that are unknown."""
    server = f"{call.server}/" if call.server else ""
    return f"{server}{call.tool}" + (f"#{call.call_id}" if call.call_id else "")


def sources_of_call(call: CapturedCall) -> list[Source]:
    """The sources that one call gave: its output, and each resource with an address in it."""
    bare = Source(
        source_id=source_id_of(call),
        tool_name=call.tool,
        text="",
        server=call.server,
        call_id=call.call_id,
        arguments=call.arguments,
        note=call.note,
        extra=call.extra,
    )
    if call.output is None:
        note = call.note or "the output of this call was not captured"
        return [dataclasses.replace(bare, status=SourceStatus.NOT_CAPTURED, note=note)]
    unfolded = unfold_output(call.output)
    notes = [note for note in (call.note, *unfolded.notes) if note]
    if not unfolded.parts:
        status = _status_without_text(call, unfolded)
        raw = call.output if unfolded.changed else None
        return [dataclasses.replace(bare, status=status, raw=raw, note=_joined(notes))]
    made = []
    for part in unfolded.parts:
        status, reason = status_of(call.output, part.text, unfolded, call.failed, call.truncated)
        made.append(
            dataclasses.replace(
                bare,
                source_id=part.uri or bare.source_id,
                text=part.text,
                status=status,
                uri=part.uri,
                structured=part.structured,
                raw=call.output if unfolded.changed else None,
                raw_map=part.raw_map,
                note=_joined([*notes, reason]),
                extra={**call.extra, "title": part.title} if part.title else call.extra,
            )
        )
    return made


def distinct_sources(groups: Iterable[Sequence[Source]]) -> tuple[tuple[Source, ...], list[str]]:
    """All sources with ids of their own: two calls are two sources, one resource read twice is one."""
    kept: dict[str, Source] = {}
    notices: list[str] = []
    for group in groups:
        for source in group:
            known = kept.get(source.source_id)
            if known is not None and source.uri and known.text == source.text:
                notices.append(f"{source.uri} was read again by {source.tool_name}: one source")
                continue
            if known is not None and source.uri and source.call_id:
                source = dataclasses.replace(source, source_id=f"{source.uri}#{source.call_id}")
            source_id, count = source.source_id, 1
            while source_id in kept:
                count += 1
                source_id = f"{source.source_id}~{count}"
            kept[source_id] = dataclasses.replace(source, source_id=source_id)
    return tuple(kept.values()), notices


def _status_without_text(call: CapturedCall, unfolded: Unfolded) -> SourceStatus:
    if call.failed or unfolded.error:
        return SourceStatus.ERROR
    return SourceStatus.NOT_CAPTURED if unfolded.waiting else SourceStatus.EMPTY


def _citations(run: CapturedRun, sources: Sequence[Source]) -> tuple[Citation, ...]:
    """The captured citations, or, where none were captured, the marks in the answer itself."""
    if not run.citations:
        return citations_in(run.answer, sources)
    made = []
    for one in run.citations:
        span = Span(start=max(0, one.span.start), end=min(len(run.answer or ""), one.span.end))
        named = one.source_id or (source_named(one.url, sources) if one.url else None)
        if span.start < span.end:
            made.append(dataclasses.replace(one, span=span, source_id=named))
    return tuple(made)


def _joined(notes: Sequence[str | None]) -> str | None:
    return "; ".join(note for note in notes if note) or None
