"""Calls that a log tells of more than once, in messages, tool spans and wire spans, as one call each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from core.capture.turns import Called, CapturedCall, Returned, Turn, pair_calls
from core.capture.values import parsed

_DIFFERENT = "the log holds two different outputs of this call; one of them is shown"


def merge_calls(turns: Sequence[Turn], described: Sequence[CapturedCall]) -> list[CapturedCall]:
    """One call for each that was made, however often messages, tool spans and wire spans tell of it."""
    merging = _Merging(turns)
    for call in sorted(described, key=lambda item: item.wire):
        merging.add(call)
    return merging.calls


class _Merging:
    """The calls known so far, and where to find one by its id, its span, or its tool."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.calls = list(pair_calls(turns))
        self.ids = {turn.call_id for turn in turns if isinstance(turn, Called | Returned)}
        self.by_id: dict[str | None, int] = {}
        self.owners: dict[str, int] = {}  # span id to call
        self.spoken: dict[str, list[int]] = {}  # by tool: calls that only messages told of so far
        self.unowned: dict[str, list[int]] = {}  # by tool: calls that no wire span was found for
        for place, call in enumerate(self.calls):
            self.by_id.setdefault(call.call_id, place)
            self.spoken.setdefault(call.tool, []).append(place)
            self.unowned.setdefault(call.tool, []).append(place)

    def add(self, call: CapturedCall) -> None:
        place = self.on_the_wire(call) if call.wire else self.told(call)
        if place is None:
            place = len(self.calls)
            named = call if call.call_id else dataclasses.replace(call, call_id=call.span_id)
            self.calls.append(named)
            if not call.wire:
                self.by_id.setdefault(named.call_id, place)
                self.unowned.setdefault(call.tool, []).append(place)
        else:
            self.calls[place] = _merged(self.calls[place], call)
            self.drop(self.spoken, place)
        self.owners[call.span_id] = place
        if call.wire:
            self.drop(self.unowned, place)

    def told(self, call: CapturedCall) -> int | None:
        """The call of that id, or the first of that tool and those arguments."""
        if call.call_id and (call.call_id in self.ids or call.call_id in self.by_id):
            return self.by_id.get(call.call_id)
        for place in self.spoken.get(call.tool, ()):
            known = self.calls[place]
            told = (known.arguments, call.arguments)
            same = told[0] == told[1] or parsed(told[0]) == parsed(told[1])
            if same and not (call.call_id and known.call_id in self.ids):
                return place
        return None

    def on_the_wire(self, call: CapturedCall) -> int | None:
        """The call whose span holds this one, or the first of that tool without a wire span."""
        if call.parent_id is not None and call.parent_id in self.owners:
            place = self.owners[call.parent_id]
            return place if self.calls[place].tool == call.tool else None
        return next(iter(self.unowned.get(call.tool, ())), None)

    def drop(self, index: dict[str, list[int]], place: int) -> None:
        places = index.get(self.calls[place].tool, [])
        if place in places:
            places.remove(place)


def _merged(known: CapturedCall, call: CapturedCall) -> CapturedCall:
    output, note = _told_twice(known.output, call.output, call.wire)
    return dataclasses.replace(
        known,
        tool=known.tool if known.tool != "unknown tool" else call.tool,
        call_id=known.call_id or call.call_id,
        server=known.server or call.server,
        arguments=known.arguments if known.arguments is not None else call.arguments,
        output=output,
        failed=known.failed or call.failed,
        truncated=known.truncated or call.truncated,
        note=known.note or call.note or note,
        extra={**known.extra, **call.extra},
    )


def _told_twice(known: str | None, span: str | None, wire: bool) -> tuple[str | None, str | None]:
    """One output of two descriptions: the longer of two that agree, else the span's, with a note."""
    if not known or not span:
        return known or span or (span if known is None else known), None  # empty is not unknown
    if span.strip() in known or parsed(known) == parsed(span):
        return known, None
    if known.strip() in span:
        return span, None
    return (known if wire else span), _DIFFERENT
