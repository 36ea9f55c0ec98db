"""Adding files of traces: a drop zone, then for each file what was understood and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.capture.reading import FORMATS
from core.errors import InputError, ProvenanceGuardError
from core.records import IngestReport
from core.workflows.ingest import SameId, ingest, preview
from pages.widgets.counting import counted
from pages.widgets.file_names import safe_name
from pages.widgets.plain import Card, show_cards
from pages.widgets.session import settings
from pages.widgets.trace_list import show_newest_first
from pages.widgets.verifying import LARGE_TRACES, SAMPLE_TRACES, start_sample, start_verifying
from storage.store import SqlStore

RECOGNISED = "auto"
_SAME_ID_WORDS = {
    SameId.APART: "other traces: keep both",
    SameId.VERSION: "new versions of the same traces",
}
_MARKS = {"good": "✓", "careful": "!", "bad": "✕"}
_WITHOUT_EVIDENCE = (
    "Nothing here can be checked: the traces lack a tool output to check against, or an answer. "
    "Were the outputs captured?"
)
REASONS_SHOWN = 200
TOOLS_SHOWN = 200
# A call log says nothing about answers: it is read together with the transcripts beside it.
CALL_LOG = "mcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One uploaded file, how it is to be read, and what reading it so would give."""

    upload: UploadedFile
    name: str
    format: str
    report: IngestReport


def show_import(store: SqlStore) -> bool:
    """The drop zone, what was understood of what lies in it, and the button that keeps it.

    True while files wait there for that button.
    """
    generation = st.session_state.setdefault("import_generation", 0)
    uploads = st.file_uploader(
        "Add traces: drop files here",
        type=["jsonl", "json", "gz"],
        accept_multiple_files=True,
        key=f"files-{generation}",
        help="JSON Lines, a JSON list or one JSON object, also as .gz; native traces, chat "
        "transcripts with tool calls, MCP logs. Larger files: provenanceguard import.",
    )
    if not uploads:
        for number, card in enumerate(st.session_state.get("import_result", [])):
            show_cards([card], key=f"import-result-{number}")
        return False
    st.session_state.pop("import_result", None)
    chosen = [_show_file(upload, store) for upload in uploads]
    traces = sum(each.report.traces for each in chosen)
    if not traces:
        return False
    same_id = _ask_same_id(sum(each.report.clashes for each in chosen))
    noun = "trace" if traces == 1 else "traces"
    large = traces >= LARGE_TRACES
    with st.container(horizontal=True):
        both = st.button(
            f"Add {traces:,} {noun} and verify {f'a sample of {SAMPLE_TRACES}' if large else ''}".strip(),
            type="primary",
            icon=":material/add:",
            key="add",
            help="So many take long: the sample tells how long, before you decide on the rest."
            if large
            else None,
        )
        only = st.button("Add without verifying", key="add-only")
    if both or only:
        with st.spinner("Adding the traces …"):
            cards = _keep(store, chosen, same_id)
        st.session_state["import_result"] = cards
        st.session_state["import_generation"] = generation + 1
        show_newest_first()
        if both and large:
            start_sample(store, chosen[0].name if len(chosen) == 1 else None)
        elif both:
            start_verifying(store)
        st.rerun()
    return True


def _ask_same_id(clashes: int) -> SameId:
    """What becomes of traces whose id another file has used; asked only where there are some."""
    if not clashes:
        return SameId.APART
    noun = "trace has" if clashes == 1 else "traces have"
    chosen: SameId = st.radio(
        f"{clashes:,} {noun} an id that another file has used for something else. They are …",
        [*SameId],
        format_func=_SAME_ID_WORDS.__getitem__,
        horizontal=True,
        key="same-id",
    )
    return chosen


def _show_file(upload: UploadedFile, store: SqlStore) -> Chosen:
    name = safe_name(upload.name)
    left, right = st.columns([5, 1], vertical_alignment="top")
    wanted = right.selectbox(
        "Read as",
        [RECOGNISED, *FORMATS],
        format_func=lambda each: "what it is" if each == RECOGNISED else each,
        key=f"format-{upload.file_id}",
        help="Choose a format if the file was taken for the wrong one.",
    )
    with left:
        report = _preview(upload, name, wanted, store)
        show_cards([_file_card(name, upload.size, wanted, report)], key=f"file-{upload.file_id}")
    return Chosen(upload=upload, name=name, format=wanted, report=report)


def _preview(upload: UploadedFile, name: str, wanted: str, store: SqlStore) -> IngestReport:
    # Reading a large file takes seconds, and the page runs again at every click.
    seen: dict[tuple[str, str], IngestReport] = st.session_state.setdefault("previews", {})
    if (upload.file_id, wanted) not in seen:
        with st.spinner("Reading the file …"), TemporaryDirectory() as folder:
            path = _written(upload, name, Path(folder))
            seen[(upload.file_id, wanted)] = preview([path], settings(), wanted, store)
    return seen[(upload.file_id, wanted)]


def _written(upload: UploadedFile, name: str, folder: Path) -> Path:
    path = folder / name
    path.write_bytes(upload.getbuffer())
    return path


# ---------------------------------------------------------------- keeping


def _keep(store: SqlStore, chosen: Sequence[Chosen], same_id: SameId) -> list[Card]:
    """Keep the files' traces; a card a group of files that were read together."""
    return [_keep_group(store, group, same_id) for group in _groups(chosen)]


def _groups(chosen: Sequence[Chosen]) -> list[list[Chosen]]:
    """Files one by one, except that call logs are read with the transcripts given beside them."""
    logs = [each for each in chosen if CALL_LOG in (each.format, *_formats(each.report))]
    joined = [each for each in chosen if each in logs or each.format == RECOGNISED]
    if not logs or len(joined) < 2 or any(each.format != RECOGNISED for each in logs):
        return [[each] for each in chosen]
    return [joined, *([each] for each in chosen if each not in joined)]


def _formats(report: IngestReport) -> list[str]:
    return [file.format for file in report.files]


def _keep_group(store: SqlStore, group: Sequence[Chosen], same_id: SameId) -> Card:
    names = " + ".join(each.name for each in group)
    try:
        with TemporaryDirectory() as folder:
            paths = []
            for number, each in enumerate(group):
                place = Path(folder) / str(number)
                place.mkdir()
                paths.append(_written(each.upload, each.name, place))
            report = ingest(paths, store, settings(), format=group[0].format, same_id=same_id)
        store.put_import(report)
    except ProvenanceGuardError as error:
        words = error.located() if isinstance(error, InputError) else str(error)
        return {"title": names, "text": f"Not added: {words}", "tone": "bad", "mark": "✕"}
    return _kept_card(names, report)


def _kept_card(names: str, report: IngestReport) -> Card:
    added = ", ".join(
        f"{count:,} {words}"
        for count, words in ((report.new, "new"), (report.changed, "new versions of known traces"))
        if count
    )
    known = f"{report.unchanged:,} already there" if report.unchanged else ""
    skipped, empty = report.skipped_count, _nothing_to_check(report)
    tone = "careful" if skipped or empty else "good"
    return {
        "title": names,
        "mark": _MARKS[tone],
        "tone": tone,
        "text": (
            f"Added: {added}{f' ({known})' if known else ''}."
            if added
            else f"Nothing added{f': {known}' if known else ''}."
        )
        + (f" {skipped:,} could not be read." if skipped else "")
        + (f" {_WITHOUT_EVIDENCE}" if empty else ""),
        "lists": _skipped_list(report),
    }


# ---------------------------------------------------------------- what was understood


def _file_card(name: str, size: int, wanted: str, report: IngestReport) -> Card:
    found = ", ".join(dict.fromkeys(_formats(report)))
    versions = ", ".join(dict.fromkeys(f.version for f in report.files if f.version))
    how = "recognised" if wanted == RECOGNISED else "as you chose"
    calls = sum(each.calls for each in report.tools)
    facts = [
        ("Format", f"{found}{f' {versions}' if versions else ''} ({how})" if found else "not known")
    ]
    facts.append(("Traces", _traces_words(report)))
    if calls:
        facts.append(("Tool calls", f"{calls:,} by {counted(len(report.tools), 'tool')}"))
    if not report.traces:
        tone = "bad"
    else:
        partly = report.skipped_count or report.without_evidence or report.without_answer
        tone = "careful" if partly else "good"
    tools = {
        "title": "Tool calls by server and tool",
        "items": [
            f"{_tool_name(each.server, each.tool)}: {counted(each.calls, 'call')}"
            + (f", {each.not_evidence:,} without evidence" if each.not_evidence else "")
            for each in report.tools[:TOOLS_SHOWN]
        ],
    }
    return {
        "title": name,
        "aside": _size_words(size),
        "mark": _MARKS[tone],
        "tone": tone,
        "text": _WITHOUT_EVIDENCE if _nothing_to_check(report) else "",
        "facts": facts,
        "lists": [*_skipped_list(report), *([tools] if tools["items"] else [])],
    }


def _nothing_to_check(report: IngestReport) -> bool:
    lacking = max(report.without_evidence, report.without_answer)
    return report.traces > 0 and lacking >= report.traces


def _traces_words(report: IngestReport) -> str:
    words = [f"{report.traces:,}"]
    if report.without_answer:
        words.append(f"{report.without_answer:,} without an answer")
    if report.without_evidence:
        words.append(f"{report.without_evidence:,} without evidence")
    return ", ".join(words)


def _skipped_list(report: IngestReport) -> list[dict[str, object]]:
    if not report.skipped_count:
        return []
    items = list(report.skipped[:REASONS_SHOWN])
    if report.skipped_count > len(items):
        items.append(f"… and {report.skipped_count - len(items):,} more")
    title = f"Not understood: {report.skipped_count:,}"
    return [{"title": title, "items": items, "open": True}]


def _tool_name(server: str | None, tool: str) -> str:
    return f"{server}/{tool}" if server else tool


def _size_words(size: int) -> str:
    if size < 1_000_000:
        return f"{max(1, round(size / 1_000)):,} kB"
    return f"{size / 1_000_000:,.1f} MB"
