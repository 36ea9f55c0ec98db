"""Which tool counts as which kind of source, and what another families file would change (III.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.attribution.families import OTHER, Families
from core.records import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool of captured traces: how many outputs it gave, in how many traces."""

    tool_name: str
    server: str | None
    outputs: int
    traces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolKind:
    """A tool and its kind of source: ``now``, and ``then`` by another file (None: none is tried)."""

    tool: ToolUse
    now: str
    then: str | None = None

    @property
    def moves(self) -> bool:
        """Whether the other file gives it another kind."""
        return self.then is not None and self.then != self.now


def tools_of(traces: Iterable[Trace]) -> tuple[ToolUse, ...]:
    """Every tool that gave an output, the most used first."""
    outputs: dict[tuple[str, str | None], int] = {}
    within: dict[tuple[str, str | None], int] = {}
    for trace in traces:
        named = [(source.tool_name, source.server) for source in trace.sources]
        for tool in named:
            outputs[tool] = outputs.get(tool, 0) + 1
        for tool in set(named):
            within[tool] = within.get(tool, 0) + 1
    found = [
        ToolUse(tool_name=tool[0], server=tool[1], outputs=count, traces=within[tool])
        for tool, count in outputs.items()
    ]
    return tuple(sorted(found, key=lambda use: (-use.outputs, use.tool_name, use.server or "")))


def kinds_of(
    tools: Sequence[ToolUse], families: Families, other: Families | None = None
) -> tuple[ToolKind, ...]:
    """Each tool's kind as a reviewer reads it; what moves first, then what has no kind."""

    def kind(each: Families, tool: ToolUse) -> str:
        return each.label(each.family_of_tool(tool.tool_name, tool.server))

    found = [
        ToolKind(
            tool=tool,
            now=kind(families, tool),
            then=None if other is None else kind(other, tool),
        )
        for tool in tools
    ]
    without = families.label(OTHER)
    return tuple(sorted(found, key=lambda each: (not each.moves, each.now != without)))
