"""A provenance report document as one page for people: all escaped, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Mapping

from markdown_it import MarkdownIt

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
    # All that the report writes, and nothing that could be markup of a source's: no link, no entity.
    known = MarkdownIt("zero").enable(["heading", "list", "table", "escape"])
    body = known.render(report_markdown(document))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Provenance report</title><style>{_STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )
