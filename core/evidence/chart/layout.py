"""The rows of a chart's text: blocks of fields, list items, table lines and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.evidence.chart.labels import (
    RELATIVES,
    attribute_of,
    is_section,
    is_short,
    kind_of,
    section_of,
    section_status,
    words_of,
)
from core.evidence.chart.records import EntryKind, Field, Line, Row, Status
from core.evidence.chart.status import status_of_code
from core.records import Span
from core.text.fields import cells_of
from core.text.sentences import sentence_spans

_MARK = re.compile(r"\s*(?:[-*•‣+]|\(?\d{1,3}[.)]|\[\d{1,3}\]|[a-z]\))\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(
    r"\s*(?:#{1,6}\s+(?P<hash>.+?)\s*#*|(?:\*\*|__)(?P<bold>[^*_]+?):?(?:\*\*|__):?)\s*\Z"
)
_LABEL = r"[A-Za-z][\w.\[\]()/'+ -]{0,60}?"
# No label whose bracket is still open at the colon: "Lymphoma [status: inactive]".
_PAIR = re.compile(
    r"(?![^:=\n]{0,62}[\[(][^\])\n:=]*[:=])"
    rf"(?P<label>{_LABEL})\s?[:=](?=\s|\Z|\{{|\[)\s*(?P<value>.*)\Z",
    re.DOTALL,
)
_INLINE = re.compile(r"(?:\A|[,;|]\s+)(?P<label>[A-Za-z][\w. -]{0,40}?)\s?[:=]\s")
# "Assessment - gout", "FHx nil": a heading before a dash, or an abbreviation, without a colon.
_DASHED = re.compile(
    r"(?P<label>[A-Z][A-Za-z/ ]{1,30}?)\s+(?:--?|\u2013|\u2014)\s+(?P<value>\S.*)\Z", re.DOTALL
)
_SHORT = re.compile(r"(?P<label>[A-Z][A-Za-z]{1,4})\s+(?P<value>\S.*)\Z", re.DOTALL)
_FRAMED = re.compile(
    r"\s*(?:={2,}|-{2,}|~{2,}|\[)\s*(?P<words>[A-Za-z][^=~\[\]]{0,60}?)\s*(?:={2,}|-{2,}|~{2,}|\])\s*\Z"
)
# A part of a record that begins behind a sentence of the same line.
_HEADED = re.compile(r"[.;]\s+(?=(?P<label>[A-Z][A-Za-z /-]{1,40}?):\s)")
_LEADER = re.compile(r"\w ?\.{2,} ?\w")
# Where the next of several drugs in one line begins.
_NEXT_DRUG = re.compile(
    r",\s+(?:and\s+)?(?=[A-Za-z][\w/ -]{2,40}?\s(?:\[\w{1,3}\]\s)?\d)|"
    r"\s+and\s+(?=[a-z][\w/-]{3,}\s(?:\[\w{1,3}\]\s)?\d)"
)
_MOST_HEADING = 8  # words of a line that ends in a colon and names what follows
_MOST_ITEM = 140  # characters of an unmarked line that is an item of a list


def read_rows(text: str) -> tuple[Row, ...]:
    """The rows of a source's text in order; headings become the section of what follows them."""
    lines = [
        line
        for match in re.finditer(r"[^\n]*(?:\n|\Z)", text)
        if match.group()
        for line in _headed_apart(_line(match))
    ]
    rows: list[Row] = []
    section, beyond, paragraph, at = "", "", 0, 0  # beyond: what holds again after a blank line
    while at < len(lines):
        line = lines[at]
        heading = _heading(line, lines, at)
        table = table_at(text, lines, at, section)
        if line.blank:
            section, at = beyond, at + 1
        elif heading is not None:
            section, at = heading, at + 1
            beyond = heading
        elif table is not None:
            rows.extend(table[0])
            at = table[1]
        elif line.marked:
            made, at = _item(lines, at, section)
            rows.extend(one for row in made for one in regrouped(row))
        elif _pair(line.text):
            begun = at
            made, at, section = _block(lines, at, section)
            beyond = section if at == begun + 1 and not made else beyond
            rows.extend(one for row in made for one in regrouped(row))
        elif _is_item(lines, at, section):
            rows.append(_row(lines[at : at + 1], section, ()))
            at += 1
        else:
            end = at
            while end < len(lines) and _is_prose(lines, end, at, text, section):
                end += 1
            end = max(end, at + 1)
            stop = lines[end - 1].start + len(lines[end - 1].text)
            rows.extend(_sentences(text, line.start, stop, section, paragraph))
            paragraph, at = paragraph + 1, end
    return tuple(rows)


def _pair(text: str) -> re.Match[str] | None:
    """A line's label and value; a heading may stand before a dash or without any mark."""
    match = _PAIR.match(text)
    if match is not None:
        return match
    dashed = _DASHED.match(text)
    if dashed is not None and is_section(dashed["label"]):
        return dashed
    short = _SHORT.match(text)
    return short if short is not None and is_short(short["label"]) else None


def _line(match: re.Match[str]) -> Line:
    raw = match.group().rstrip("\n")
    mark = _MARK.match(raw)
    kept = raw[mark.end() :] if mark else raw.lstrip()
    start = match.start() + len(raw) - len(kept)
    indent = len(raw) - len(raw.lstrip())
    return Line(start, kept.rstrip(), indent, mark is not None, not raw.strip())


def _headed_apart(line: Line) -> Iterator[Line]:
    """The line, cut where a part of the record begins within it: "Medications: aspirin. Allergies: none.".

    Such a part is one sentence long: what follows it on the line is under no heading.
    """
    cuts = [match.end() for match in _HEADED.finditer(line.text) if is_section(match["label"])]
    if not cuts:
        yield line
        return
    for start, end in zip([0, *cuts], [*cuts, len(line.text)], strict=True):
        stretch = line.text[start:end]
        spans = sentence_spans(stretch) if start else []
        told = spans[0].end if spans else len(stretch)
        yield from _piece(line, start, start + told)
        if start:
            yield Line(line.start + start + told, "", line.indent, False, True)
        yield from _piece(line, start + told, end)


def _piece(line: Line, start: int, end: int) -> Iterator[Line]:
    text = line.text[start:end].lstrip()
    if text:
        at = end - len(text)
        yield Line(line.start + at, text.rstrip(), line.indent, line.marked and not at, False)


def _heading(line: Line, lines: Sequence[Line], at: int) -> str | None:
    match = _HEADING.match(line.text)
    if match and not line.marked:
        return (match["hash"] or match["bold"]).strip(" :*").casefold()
    framed = _FRAMED.match(line.text)
    if framed and not line.marked:
        return framed["words"].strip(" :").casefold()
    bare = line.text.rstrip(":").strip("=- ")
    if line.blank or line.marked or len(bare) > 60 or not bare:
        return None
    if "," in bare or "|" in bare or "\t" in bare:
        return None
    ends = line.text.endswith(":")
    if (ends or bare.isupper() or line.text == bare) and is_section(bare):
        return bare.casefold()
    if ends and kind_of(bare) is not None and len(bare.split()) <= _MOST_HEADING:
        return bare.casefold()
    listed = at + 1 < len(lines) and lines[at + 1].marked
    if listed and bare.isupper() and len(bare.split()) <= _MOST_HEADING:
        return bare.casefold()
    return bare.casefold() if ends and at + 1 < len(lines) and lines[at + 1].marked else None


# ---------------------------------------------------------------- lists and blocks


def _item(lines: Sequence[Line], at: int, section: str) -> tuple[list[Row], int]:
    """The row of a list item with the deeper lines that belong to it, and the line behind."""
    first, end = lines[at], at + 1
    bare = first.text.rstrip(":").strip("*_ ")
    if is_section(bare) and first.text.rstrip("*_ ").endswith(":"):
        rows: list[Row] = []
        while end < len(lines) and not lines[end].blank and lines[end].indent > first.indent:
            made, end = _item(lines, end, bare.casefold())
            rows.extend(made)
        return rows, end
    while end < len(lines) and not lines[end].blank and lines[end].indent > first.indent:
        end += 1
    fields: list[Field] = []
    for line in lines[at:end]:
        fields.extend(_fields(line))
    pair = _PAIR.match(first.text)
    if end == at + 1 and pair and is_section(pair["label"]):
        return _section_line(first, pair), end
    if fields and not _fields(first):
        place = Span(start=first.start, end=first.start + len(first.text))
        fields.insert(0, Field(label="name", text=first.text, span=place))
    return [_row(lines[at:end], section, tuple(fields))], end


def _fields(line: Line) -> list[Field]:
    """The labelled values of one line: ``code: X, status: Y`` or one ``label: value``."""
    starts = [match for match in _INLINE.finditer(line.text) if attribute_of(match["label"])]
    if not starts or (starts[0].start() and attribute_of(starts[0]["label"]) == "other"):
        pair = _PAIR.match(line.text)
        starts = []
        if pair is None:
            return []
        span = Span(start=line.start + pair.start("value"), end=line.start + len(line.text))
        at = line.start + pair.start("label")
        return [Field(label=pair["label"], text=pair["value"], span=span, label_start=at)]
    found = []
    if starts[0].start():
        head = line.text[: starts[0].start()]
        place = Span(start=line.start, end=line.start + len(head))
        found.append(Field(label="name", text=head, span=place))
    for index, match in enumerate(starts):
        stop = starts[index + 1].start() if index + 1 < len(starts) else len(line.text)
        value = line.text[match.end() : stop]
        left = line.start + match.end()
        span = Span(start=left, end=left + len(value))
        at = line.start + match.start("label")
        found.append(Field(label=match["label"], text=value, span=span, label_start=at))
    return found


def _block(lines: Sequence[Line], at: int, section: str) -> tuple[list[Row], int, str]:
    """Lines of ``label: value`` that stand together: one row, except for lines that are sections."""
    rows: list[Row] = []
    held: list[Line] = []
    fields: list[Field] = []
    end = at
    while end < len(lines) and not lines[end].blank and not lines[end].marked:
        pair = _pair(lines[end].text)
        if pair is None:
            break
        label = pair["label"]
        if not pair["value"].strip() and (
            is_section(label) or _heading(lines[end], lines, end) is not None
        ):
            break
        if is_section(label):
            rows.extend(_section_line(lines[end], pair))
        elif (
            len(pair["value"]) > 200
            or attribute_of(label) == "note"
            and len(pair["value"].split()) > 3
            or (kind_of(label) is EntryKind.MEDICATION and _NEXT_DRUG.search(pair["value"]))
        ):
            rows.extend(_section_line(lines[end], pair))
            held.append(lines[end])
            fields.extend(_fields(lines[end]))
        else:
            held.append(lines[end])
            fields.extend(_fields(lines[end]))
        end += 1
    if fields:
        rows.insert(0, _row(held, section, tuple(fields)))
    if end == at:
        return [], at + 1, lines[at].text.rstrip(":").casefold()
    last = _pair(lines[end - 1].text)
    # Lines below "Current meds - amlodipine 5 mg" go on with its list.
    under = last is not None and is_section(last["label"]) and len(last["value"]) < _MOST_ITEM
    return rows, end, section_of(last["label"]) if under and last is not None else section


def _section_line(line: Line, pair: re.Match[str]) -> list[Row]:
    """``Medications: a 5 mg; b 10 mg``: a row for each part, under that section."""
    section = section_of(pair["label"])
    base = line.start + pair.start("value")
    rows = []
    for part in re.finditer(r"(?:\([^()\n]*\)|[^;\n]|;(?=\S))+", pair["value"]):
        for span in sentence_spans(part.group()):
            left = base + part.start() + span.start
            for one in _drugs_apart(part.group()[span.start : span.end], section):
                place = Span(start=left + one.start, end=left + one.end)
                words = one.cut(part.group()[span.start : span.end])
                rows.append(Row(text=words, span=place, section=section))
    return rows


def _drugs_apart(text: str, section: str) -> Iterator[Span]:
    """The drugs of a line of a medication section, where more than one has a dose."""
    start = 0
    if kind_of(section) is EntryKind.MEDICATION:
        for match in _NEXT_DRUG.finditer(text):
            if re.search(r"\d", text[start : match.start()]):
                yield Span(start=start, end=match.start())
                start = match.end()
    yield Span(start=start, end=len(text))


def _row(lines: Sequence[Line], section: str, fields: tuple[Field, ...]) -> Row:
    start, end = lines[0].start, lines[-1].start + len(lines[-1].text)
    words = "\n".join(line.text for line in lines)
    if len(lines) == 1 or not fields:
        words = lines[0].text if len(lines) == 1 else words
    return Row(text=words, span=Span(start=start, end=end), section=section, fields=fields)


# ---------------------------------------------------------------- prose


def _is_item(lines: Sequence[Line], at: int, section: str) -> bool:
    """Whether an unmarked line under a heading of entries is one of them and no prose."""
    text = lines[at].text
    if kind_of(section) is None or len(text) > _MOST_ITEM:
        return False
    if _LEADER.search(
        text
    ):  # "flucloxacillin ... 500 mg .... QDS": dots that lead to the next column
        return True
    if re.search(r"[.;]\s+\S|,\Z", text):
        return False
    return not re.match(r"(?:he|she|they|the|there|no|on|mr|mrs|ms|in|at)\b", text, re.IGNORECASE)


def _is_prose(lines: Sequence[Line], at: int, first: int, text: str, section: str) -> bool:
    line = lines[at]
    if at == first:
        return True
    return not (
        line.blank or line.marked or _heading(line, lines, at) is not None
        or ((pair := _pair(line.text)) is not None and is_section(pair["label"]))
        or table_at(text, lines, at, section) is not None
    )  # fmt: skip


def _sentences(text: str, start: int, end: int, section: str, paragraph: int) -> Iterator[Row]:
    stretch = text[start:end]
    left: int | None = None
    for span in sentence_spans(stretch.replace("\n", " ")):
        if not re.search(r"\w", stretch[span.start : span.end]):
            left = span.start  # "? gout" is a query, not a mark and a sentence
            continue
        if left is not None:
            span, left = Span(start=left, end=span.end), None
        yield Row(
            text=stretch[span.start : span.end],
            span=Span(start=start + span.start, end=start + span.end),
            section=section,
            paragraph=paragraph,
        )


def regrouped(row: Row) -> list[Row]:
    """The row, with a row of its own for each key that is a name, in the row's order."""
    held: dict[str, list[Field]] = {}
    kept: list[Field] = []
    for field in row.fields:
        owner = _owner(field, row.section)
        if owner is None:
            kept.append(field)
        else:
            held.setdefault(owner, []).append(field)
    if not held:
        return [row]
    rows = [_keyed_row(owner, fields, row) for owner, fields in held.items()]
    return [replace(row, fields=tuple(kept)), *rows] if kept else rows


def _owner(field: Field, section: str) -> str | None:
    """The path whose last key is the name that the field is about."""
    if field.label_start is None:
        return None
    if "." not in field.label:
        # "Gout: differential only" in a list of problems.
        known = kind_of(section) in _LISTED and field.label.casefold() != section
        return field.label if known and _is_name(field.label) else None
    path, _, last = field.label.rpartition(".")
    if _is_answered(last) and status_of_code(field.text.split(",")[0]) is not None:
        return field.label
    above = path.rpartition(".")[0]
    if _is_name(path.rpartition(".")[2]) and kind_of(above) is not None:
        return path if attribute_of(last) != "other" else None
    return None


def _is_answered(key: str) -> bool:
    """Whether a key that has a status as its value is a name ("bleeding disorder: denied")."""
    return _is_name(key) or (" " in key.strip() and attribute_of(key) in ("name", "other"))


def _is_name(key: str) -> bool:
    """Whether a key is none of the words that charts have keys for."""
    words = words_of(key)
    if (
        not words
        or max(map(len, words)) < 3
        or any(word in _FLAGS or word in RELATIVES for word in words)
    ):
        return False
    if section_status(key) is not Status.UNSTATED:
        return False
    return attribute_of(key) == "other" and kind_of(key) is None and not is_section(key)


_LISTED = (EntryKind.CONDITION, EntryKind.MEDICATION, EntryKind.ALLERGY)
_FLAGS = frozenset(
    "id is has interpreter consent data chart items entries patient demographics resource smoker "
    "pregnant required self mild severe criticality title reference repeat timing".split()
)


def _keyed_row(owner: str, fields: list[Field], row: Row) -> Row:
    path, _, key = owner.rpartition(".")
    first = fields[0]
    assert first.label_start is not None
    place = first.label_start + (len(path) + 1 if path else 0)
    lead = f"{path}." if path else ""
    name = Field(label=f"{lead}name", text=key, span=Span(start=place, end=place + len(key)))
    own = [replace(one, label=f"{lead}note") if one.label == owner else one for one in fields]
    start, end = first.label_start, fields[-1].span.end
    text = "\n".join(f"{one.label}: {one.text}" for one in fields)
    section = row.section or " ".join(words_of(path))
    return Row(text=text, span=Span(start=start, end=end), section=section, fields=(name, *own))


_RULE = re.compile(r"\s*\|?[\s:|+-]*-[\s:|+-]*\|?\s*\Z")
_MOST_RAGGED = 2  # cells that a row may have more or fewer than its table's head


def table_at(
    text: str, lines: Sequence[Line], at: int, section: str
) -> tuple[list[Row], int] | None:
    """The rows of the table that begins here, and the line behind it."""
    for separator in ("|", "\t", ";", ","):
        header = _cells(text, lines[at], separator)
        rows, end = [], at + 1
        ruled = separator == "|" and end < len(lines) and _is_rule(lines[end].text)
        if len(header) < 2 or lines[at].blank:
            continue
        if not ruled and not all(_is_label(cell.text) for cell in header):
            continue
        named = sum(attribute_of(cell.text) != "other" for cell in header)
        end += ruled
        # A table whose columns go by known names may have rows that are a cell short or long.
        ragged = _MOST_RAGGED if (ruled or named > 2) and len(header) > _MOST_RAGGED else 0
        while end < len(lines) and not lines[end].blank:
            cells = _cells(text, lines[end], separator)
            if abs(len(cells) - len(header)) > ragged or len(cells) < 2:
                break
            rows.append(_table_row(text, header, cells, section))
            end += 1
        if rows:
            return rows, end
    return None


def _is_rule(text: str) -> bool:
    return bool(text) and _RULE.match(text) is not None


def _is_label(cell: str) -> bool:
    return (
        0 < len(cell) <= 40 and not re.search(r"\d{2}|[.!]\s*\Z", cell) and len(cell.split()) <= 5
    )


def _cells(text: str, line: Line, separator: str) -> list[Field]:
    """The cells of a line with their places."""
    if separator not in line.text or (line.marked and separator != "|"):
        return []
    return [
        Field(label="", text=words, span=Span(start=at, end=at + len(words)))
        for at, words in cells_of(text, line.start, line.start + len(line.text), separator)
    ]


def _table_row(text: str, header: Sequence[Field], cells: Sequence[Field], section: str) -> Row:
    fields = tuple(
        replace(cell, label=head.text)
        for head, cell in zip(header, cells, strict=False)
        if cell.text
    ) + tuple(replace(cell, label="remark") for cell in cells[len(header) :] if cell.text)
    start, end = cells[0].span.start, max(cells[-1].span.end, cells[0].span.start)
    if len(fields) == 2 and attribute_of(fields[0].label) == "kind" and kind_of(fields[0].text):
        # "| Section | Detail |": each row is a section of its own.
        section = section_of(fields[0].text)
        return Row(text=fields[1].text, span=fields[1].span, section=section)
    return Row(
        text=text[start:end], span=Span(start=start, end=end), section=section, fields=fields
    )
