"""Lines of an answer: which stand for themselves, their labels, list members and table rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.decomposition.clauses import has_finite_verb
from core.decomposition.markdown import masked, plain
from core.records import Span

_LABEL = re.compile(r"[A-Z\u00c0-\uffff\d][^:.!?;|\n]{0,60}?\s*:(?=\s|\Z)(?!//)")
_RUN_IN = re.compile(r"\s*(?P<mark>\*\*|__)(?P<label>[A-Z][^*_.:!?\n]{1,40})\.(?P=mark)\s+(?=\S)")
_LISTING = re.compile(
    r"\b(?:medications?|meds|conditions?|problems?|diagnos[ie]s|allergies|comorbidities|symptoms|drugs|"
    r"side effects|adverse (?:events|effects)|treatments|complaints|immuni[sz]ations|vaccines)\Z",
    re.IGNORECASE,
)


# A line that opens in bold, with a picture or with a number on a key stands for itself.
_LED = re.compile(r"\*\*|[\u2190-\u2bff\U0001f000-\U0001faff]|[0-9#*]\ufe0f?\u20e3")


def standing_lines(answer: str, span: Span) -> Iterator[Span]:
    """The lines of a paragraph that stand for themselves: labels, hard breaks, finished sentences."""
    start = span.start
    previous: Span | None = None
    for line in written_lines(answer, span):
        if previous is not None:
            ended = re.search(
                r"(?:  |\\|[.!?:：。！？][*_\"')\]]*)\Z", answer[previous.start : previous.end]
            )
            between = answer[previous.end : line.start]
            broken = between.startswith("  ") or "<" in between
            text = line.cut(answer)
            if ended or broken or _LABEL.match(masked(text).lstrip()) or _LED.match(text):
                yield Span(start=start, end=previous.end)
                start = line.start
        previous = line
    if previous is not None:
        yield Span(start=start, end=previous.end)


def written_lines(answer: str, span: Span) -> Iterator[Span]:
    """The lines of a span that hold text, trimmed."""
    start = span.start
    for match in re.finditer(r"\n|\r|\u2028|\u2029|<br\s*/?>", span.cut(answer), re.IGNORECASE):
        line = tidy(answer, Span(start=start, end=span.start + match.start()))
        if line.start < line.end:
            yield line
        start = span.start + match.end()
    line = tidy(answer, Span(start=start, end=span.end))
    if line.start < line.end:
        yield line


def labelled_cells(answer: str, span: Span) -> list[Span]:
    """ "First class: 88 | Business: 174" as its cells, when each has a label of its own."""
    text = span.cut(answer)
    if " | " not in text:
        return [span]
    cells, at = [], span.start
    for match in re.finditer(r"\s\|\s", text):
        cells.append(Span(start=at, end=span.start + match.start()))
        at = span.start + match.end()
    cells.append(Span(start=at, end=span.end))
    if all(_LABEL.match(masked(cell.cut(answer)).lstrip()) for cell in cells):
        return cells
    return [span]


def label_and_value(answer: str, span: Span) -> tuple[str, Span | None]:
    """A line's label and the span of what follows it; no label when the line is a sentence."""
    hidden = masked(span.cut(answer))
    lead = len(hidden) - len(hidden.lstrip())
    match = _LABEL.match(hidden.lstrip())
    if match is None:
        return "", None
    label = plain(span.cut(answer)[lead : lead + match.end()]).rstrip(": ")
    if len(label.split()) > 8 or has_finite_verb(label):
        return "", None
    value = tidy(answer, Span(start=span.start + lead + match.end(), end=span.end))
    value_text = value.cut(answer)
    while value_text.startswith(("*", "_")) and value_text.count("**") % 2:
        value = tidy(answer, Span(start=value.start + 2, end=value.end))
        value_text = value.cut(answer)
    return (label, value) if value.start < value.end else ("", None)


def run_in_label(answer: str, span: Span) -> tuple[str, Span | None]:
    """A run-in heading and what follows it: "**Language.** English"; no label without one."""
    match = _RUN_IN.match(span.cut(answer))
    if match is None or match.end() >= span.end - span.start:
        return "", None
    return match.group("label").strip(), Span(start=span.start + match.end(), end=span.end)


def run_in_joined(text: str, sentences: Sequence[Span]) -> Iterator[Span]:
    """The sentences, with a run-in heading ("**Finding.**") joined to the one that it heads."""
    head: Span | None = None
    for sentence in sentences:
        if head is not None:
            sentence = Span(start=head.start, end=sentence.end)
            head = None
        elif (match := _RUN_IN.match(text, sentence.start)) and match.end() > sentence.end:
            head = sentence
            continue
        yield sentence
    if head is not None:
        yield head


def heads_a_list(label: str) -> bool:
    """Whether a label names several things, so that its value is a list: "Active problems"."""
    return _LISTING.search(label) is not None


def list_members(answer: str, value: Span) -> list[Span]:
    """The members of "asthma, GERD and hypertension"; one span when they cannot stand alone."""
    text = masked(value.cut(answer))
    if has_finite_verb(text) or re.search(
        r"\b(?:no|none|not|or|without|denies)\b", text, re.IGNORECASE
    ):
        return [value]
    hidden = re.sub(r"\([^()]*\)", lambda match: "_" * len(match.group()), text)
    cuts = list(re.finditer(r"\s*;\s+|,\s+(?:and\s+)?(?!\d)|\s+and\s+", hidden))
    edges = [(cut.start(), cut.end()) for cut in cuts]
    items, at = [], 0
    for first, last in edges:
        items.append(tidy(answer, Span(start=value.start + at, end=value.start + first)))
        at = last
    items.append(tidy(answer, Span(start=value.start + at, end=value.end)))
    words = [plain(item.cut(answer)).split() for item in items]
    if any(not 1 <= len(each) <= 9 or not re.match(r"[^\W\d]{2}", each[0]) for each in words):
        return [value]
    if any(re.match(r"(?i)(?:in|on|at|for|with|by|from|of|to|since|daily|once|twice)\b", each[0])
           for each in words):  # fmt: skip
        return [value]
    return items


# Column names that say nothing of what stands under them.
_EMPTY_COLUMNS = frozenset(
    "topic item items detail details value values result results field finding findings parameter "
    "measure measurement category information info description entry attribute property fact "
    "content answer".split()
)


def cell_text(cell: str) -> str:
    """A cell's text; a tick or a cross is a yes or a no to what its column says."""
    text = plain(cell)
    if any(character.isalnum() for character in text):
        return text
    if any(mark in cell for mark in "\u2713\u2714\u2705\u2611\U0001f5f8\U0001f197\u25cf"):
        return "yes"
    return (
        "no" if any(mark in cell for mark in "\u2717\u2718\u274c\u274e\u2612\u2715\u2716") else text
    )


def row_text(cells: Sequence[str], columns: Sequence[str]) -> str:
    """ "HbA1c: 7.2 %; Date: 2024-03-12" for a row under "Test", "Value" and "Date"."""
    filled = [
        (columns[index] if index < len(columns) else "", cell)
        for index, cell in enumerate(cells)
        if any(character.isalnum() for character in cell)
    ]
    if not filled:
        return ""
    heads = len(filled) > 1 and filled[0][1] == (cells[0] if cells else "")
    rest = _said_of(filled[1:] if heads else filled)
    if not heads:
        return "; ".join(rest)
    paired = len(filled) > 2 and _is_empty(filled[2][0])
    joint = ": " if _is_empty(filled[1][0]) and not paired else " - "
    return f"{filled[0][1]}{joint}{'; '.join(rest)}"


def _said_of(filled: Sequence[tuple[str, str]]) -> list[str]:
    """Cells with their columns' names; "Topic | Detail" are a name and what is said of it."""
    said: list[str] = []
    at = 0
    while at < len(filled):
        name, cell = filled[at]
        pair = filled[at : at + 2]
        if len(pair) == 2 and all(_is_empty(column) for column, _ in pair):
            said.append(f"{cell}: {pair[1][1]}")
            at += 2
            continue
        said.append(f"{name}: {cell}" if name and not _is_empty(name) else cell)
        at += 1
    return said


def _is_empty(column: str) -> bool:
    return column.strip(" *_:").casefold() in _EMPTY_COLUMNS


def tidy(answer: str, span: Span) -> Span:
    """The span without white space and loose punctuation at its edges."""
    start, end = span.start, span.end
    while start < end and (answer[start].isspace() or answer[start] in ",;|"):
        start += 1
    while end > start and (answer[end - 1].isspace() or answer[end - 1] in ",;|"):
        end -= 1
    return Span(start=start, end=end)


def finished(text: str) -> str:
    """The text without the punctuation and dashes that held it to its neighbours."""
    return text.strip(" ,;|").removeprefix("- ").removeprefix("– ")


def capitalised(text: str) -> str:
    """A sentence's first letter, unless the word is a name of its own: apps.json, mRNA."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[:1].upper() + text[1:] if re.fullmatch(r"[a-z]+[,'’s]*", first) else text
