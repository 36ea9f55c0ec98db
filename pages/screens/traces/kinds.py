"""Which tools count as which kind of source, and what the site's own families file would change."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import streamlit as st

from core.attribution.families import (
    ENVIRONMENT_VARIABLE,
    Families,
    load_families,
    of_site,
    read_families,
)
from core.attribution.tool_kinds import ToolKind, kinds_of, tools_of
from core.errors import ConfigError
from pages.widgets.counting import counted
from pages.widgets.figures import Cell, show_numbers
from storage.store import SqlStore

LOOKED_AT = 500  # traces
MOST_BYTES = 1_000_000


@st.dialog("Kinds of source", width="large")
def show_kinds(store: SqlStore) -> None:
    """The tools of the first traces with their kinds; a file that is tried changes nothing yet."""
    try:
        families = load_families()
    except ConfigError as error:
        st.error(str(error))
        return
    own = of_site()
    st.text(
        "A credit such as “the chart says” is compared with the kind of the source that says it. "
        "The kind follows from the names of tool and server. "
        + (
            f"In force: {own.name}, this site's own file."
            if own
            else "In force: the kinds that ship."
        )
    )
    with st.spinner("Reading the tools …"):
        tools = tools_of(islice(store.newest_traces(), LOOKED_AT))
    given = st.file_uploader(
        "Try another file of kinds", type=["toml"], key="families-tried", max_upload_size=1
    )
    tried = _read(given.name, given.getvalue()) if given is not None else None
    kinds = kinds_of(tools, families, tried)
    _show_summary(kinds, families, tried)
    if kinds:
        _show_table(kinds)
    if tried is not None:
        st.text(
            "Nothing is changed yet. To apply it, keep the file on this machine and start the workbench, "
            "commands and workers with its path; then verify again:"
        )
        st.code(f"export {ENVIRONMENT_VARIABLE}=/path/to/families.toml", language="bash")


def _read(name: str, data: bytes) -> Families | None:
    """The families of an uploaded file; None, with the reason shown, where it is not one."""
    place = Path(name).name
    try:
        if len(data) > MOST_BYTES:
            raise ConfigError(f"{place}: larger than 1 MB")
        return read_families(data.decode("utf-8"), place)
    except UnicodeDecodeError:
        st.error(f"{place}: not UTF-8 text")
    except ConfigError as error:
        st.error(str(error))
    return None


def _show_summary(kinds: tuple[ToolKind, ...], families: Families, tried: Families | None) -> None:
    if not kinds:
        st.text("No trace has a tool's output yet.")
        return
    if tried is not None:
        moved = sum(each.moves for each in kinds)
        st.text(
            f"{counted(moved, 'tool')} of {len(kinds)} would get another kind; they stand first."
            if moved
            else "The file gives every tool here the kind that it has."
        )
        return
    other = families.label("other")
    without = sum(each.now == other for each in kinds)
    st.text(
        f"{without:,} of {counted(len(kinds), 'tool')} without a kind, at the top: "
        "a credit to such a source cannot be compared by kind."
        if without
        else f"Every one of {counted(len(kinds), 'tool')} has a kind."
    )


def _show_table(kinds: tuple[ToolKind, ...]) -> None:
    tried = any(each.then is not None for each in kinds)
    header = [
        "Tool",
        "Server",
        "Kind",
        *(["With the tried file"] if tried else []),
        "Outputs",
        "Traces",
    ]
    rows: list[list[Cell]] = []
    for each in kinds:
        then: list[Cell] = [each.then if each.moves else "the same"] if tried else []
        tool = each.tool
        rows.append([tool.tool_name, tool.server, each.now, *then, tool.outputs, tool.traces])
    show_numbers(
        header,
        rows,
        name="kinds-of-source",
        alt="Tools with the kind of source of each",
        height=320,
    )
