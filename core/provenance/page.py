"""A provenance report document as one page for people: all escaped, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from core.provenance.markdown import report_markdown

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2430; max-width: 60rem; margin: 2rem auto;
  padding: 0 1.25rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; border-bottom: 1px solid #d5dbe3; }
h3 { font-size: 1rem; } h1, h2, h3, p, li, td { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .82em; margin: .5rem 0 1rem; }
th, td { border: 1px solid #d5dbe3; padding: .25rem .45rem; text-align: left; vertical-align: top; }
tr { break-inside: avoid; }
@page { margin: 16mm; }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 10pt; } }
"""


def report_page(document: Mapping[str, object]) -> str:
    """The Markdown of a report as HTML: the two say the same, line for line."""
    body = "\n".join(_blocks(report_markdown(document).splitlines()))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Provenance report</title><style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _blocks(lines: list[str]) -> Iterator[str]:
    """Headings, lists, tables and paragraphs: all that the report writes."""
    at = 0
    while at < len(lines):
        line = lines[at]
        level = len(line) - len(line.lstrip("#"))
        if not line.strip():
            at += 1
        elif level and line[level : level + 1] == " ":
            yield f"<h{level}>{_text(line[level + 1 :])}</h{level}>"
            at += 1
        elif line.startswith(("- ", "|")):
            end = at
            while end < len(lines) and lines[end].startswith(line[0]):
                end += 1
            yield from _list(lines[at:end]) if line[0] == "-" else _table(lines[at:end])
            at = end
        else:
            yield f"<p>{_text(line)}</p>"
            at += 1


def _list(lines: list[str]) -> Iterator[str]:
    yield "<ul>"
    for line in lines:
        yield f"<li>{_text(line[2:])}</li>"
    yield "</ul>"


def _table(lines: list[str]) -> Iterator[str]:
    yield "<table>"
    for number, line in enumerate(lines):
        if number != 1:  # the rule below the names
            tag = "td" if number else "th"
            cells = "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in _cells(line))
            yield f"<tr>{cells}</tr>"
    yield "</table>"


def _cells(line: str) -> list[str]:
    """The cells of a row; a bar that a text holds is written with a backslash."""
    cells, cell, at = [], "", 1
    while at < len(line):
        if line[at] == "\\" and at + 1 < len(line):
            cell += line[at : at + 2]
            at += 2
            continue
        if line[at] == "|":
            cells.append(cell.strip())
            cell = ""
        else:
            cell += line[at]
        at += 1
    return cells


def _text(markdown: str) -> str:
    """The plain text that the Markdown escapes, escaped for HTML instead."""
    plain, at = "", 0
    while at < len(markdown):
        escaped = markdown[at] == "\\" and at + 1 < len(markdown)
        plain += markdown[at + escaped]
        at += 1 + escaped
    return escape(plain, quote=True)
