"""Tools and their kinds: counted as captured, and what another file would move stands first."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.attribution import families as module
from core.attribution.families import load_families, read_families
from core.attribution.tool_kinds import ToolUse, kinds_of, tools_of
from core.records import Source, Trace

PACKAGED = Path(module.__file__).parent / "lexicons" / "families.toml"


def trace(*tools: str) -> Trace:
    sources = tuple(
        Source(source_id=f"{name}#{at}", tool_name=name, text="An output.")
        for at, name in enumerate(tools)
    )
    return Trace(
        trace_id="-".join(tools), question="A question?", answer="An answer.", sources=sources
    )


def test_outputs_and_traces_are_counted_apart() -> None:
    found = tools_of([trace("load_chart", "load_chart", "search_pubmed"), trace("load_chart")])
    assert found == (
        ToolUse(tool_name="load_chart", server=None, outputs=3, traces=2),
        ToolUse(tool_name="search_pubmed", server=None, outputs=1, traces=1),
    )


def test_a_tool_without_a_kind_stands_first_and_what_moves_before_it() -> None:
    shipped = load_families(PACKAGED)
    tools = tools_of([trace("load_chart", "zeta_frobnicate", "search_pubmed")])
    assert kinds_of(tools, shipped)[0].tool.tool_name == "zeta_frobnicate"
    assert not any(each.moves for each in kinds_of(tools, shipped, shipped))
    text = PACKAGED.read_text(encoding="utf-8")
    own = read_families(text.replace("[other]", _WIDGETS + "\n[other]"), "own.toml")
    first, *rest = kinds_of(tools, shipped, own)
    assert first.tool.tool_name == "zeta_frobnicate" and first.then == "the widget log"
    assert first.moves and not any(each.moves for each in rest)


_WIDGETS = """[widgets]
label = "the widget log"
aliases = ["widget log"]
nouns = []
owned = []
phrases = []
tools = ["frobnicate"]
compatible = []
"""


def test_the_site_s_own_file_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(module.ENVIRONMENT_VARIABLE, raising=False)
    assert module.of_site() is None
    monkeypatch.setenv(module.ENVIRONMENT_VARIABLE, str(PACKAGED))
    assert module.of_site() == PACKAGED
    assert load_families().digest == load_families(PACKAGED).digest
