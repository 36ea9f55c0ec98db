"""An answer as statements in order, each with its place, its context and its credit (III.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.attribution.cues import credit_of_title, find_credit
from core.attribution.families import Families
from core.decomposition.answer_lines import (
    cell_text,
    row_text,
    written_lines,
)
from core.decomposition.claim_type import (
    claim_type_of,
    is_generic_title,
    is_written_out,
)
from core.decomposition.clauses import has_finite_verb, may_assert
from core.decomposition.code_prose import code_prose, data_fields
from core.decomposition.credits import Credits
from core.decomposition.heading_context import (
    Lead,
    claimed_before_list,
    head_of,
    intro_label,
    led,
    unnumbered,
)
from core.decomposition.learned import Chooser
from core.decomposition.markdown import Block, BlockKind, blocks, link_titles, masked, plain
from core.decomposition.parsing import forget
from core.decomposition.sentences import Sentences, Statement
from core.evidence.values import protected_values
from core.evidence.words import stems
from core.records import ClaimType, Span, StatedAttribution, Trace


def read_statements(
    trace: Trace, answer: str, families: Families, learned: Chooser
) -> list[Statement]:
    """The statements of an answer in order, factual ones and what is set aside with its reason."""
    try:
        return _Reader(trace, answer, families, learned).read()
    finally:
        forget()


@dataclass(frozen=True, slots=True)
class _Introduced:
    """A line in front of a list or table, whether it has values, and the places of the statements that it
    makes by itself."""

    span: Span
    text: str
    valued: bool
    first: int
    past: int


class _Reader:
    """Reads an answer top to bottom, remembering what governs the next line."""

    def __init__(self, trace: Trace, answer: str, families: Families, learned: Chooser) -> None:
        self.answer, self.families = answer, families
        self.credits = Credits(trace, answer, families)
        self.said = Sentences(trace, answer, self.credits, learned)
        self.title = Lead()  # the heading above
        self.sections: list[tuple[int, StatedAttribution | None]] = []  # levels and their credits
        self.intro: Lead | None = None  # the line in front of the list or table
        self.introduced: list[_Introduced] = []
        self.parents: list[tuple[int, Lead]] = []  # list items above, with their depths
        self.columns: tuple[str, ...] = ()
        self.columns_group = -1
        self.row_head = ""

    def read(self) -> list[Statement]:
        layout = blocks(self.answer)
        for index, block in enumerate(layout):
            if block.kind is BlockKind.PARAGRAPH and index and layout[index - 1].kind in _LISTED:
                self._end_credits(block)
            follows = layout[index + 1] if index + 1 < len(layout) else None
            if block.kind is not BlockKind.ITEM:
                self.parents = []
                self.said.around.parents = []
            if block.kind in (BlockKind.ITEM, BlockKind.ROW, BlockKind.TABLE_HEAD):
                pass
            elif block.kind is not BlockKind.CODE:
                self.intro = None
            self._block(block, follows)
            self.said.around.leave(paragraph=block.kind is BlockKind.PARAGRAPH)
        for line in reversed(self.introduced):
            self._settle(line)
        return self.said.found

    def _block(self, block: Block, follows: Block | None) -> None:
        for title in link_titles(block.span.cut(self.answer)):
            start = block.span.start
            place = Span(start=start + title.start, end=start + title.end)
            self.said.add(place, plain(place.cut(self.answer)))
        if block.kind is BlockKind.HEADING:
            self._heading(block, follows)
        elif block.kind in (BlockKind.PARAGRAPH, BlockKind.CODE) and self._data(block):
            pass
        elif block.kind is BlockKind.PARAGRAPH:
            self._prose(block.span, self._outer(), follows)
        elif block.kind is BlockKind.ITEM:
            self._item(block, follows)
        elif block.kind is BlockKind.TABLE_HEAD:
            self._table_head(block, follows)
        elif block.kind is BlockKind.ROW:
            self._row(block)
        else:
            self._code(block)

    # ------------------------------------------------------------ blocks

    def _end_credits(self, block: Block) -> None:
        """What a heading credits ends with the list or table under it: of 4 paragraphs of others behind
        such a list none was credited by the heading, and all 59 statements that stood right under one were.
        """
        if self.answer[block.span.start - 1] == "\n":  # else it is a paragraph of the last item
            self.sections = [(level, None) for level, _ in self.sections]

    def _outer(self) -> Lead:
        """The heading above, with the credit of its section."""
        return replace(self.title, stated=self.sections[-1][1] if self.sections else None)

    def _heading(self, block: Block, follows: Block | None) -> None:
        raw = block.span.cut(self.answer)
        title = unnumbered(plain(raw)).rstrip(":：").strip()
        credit = credit_of_title(masked(raw), self.families)
        asserts = may_assert(title) or is_written_out(title)
        sentence = asserts and len(title.split()) >= 3 and credit is None
        # A patient's name, birth date or record number in a title is a claim about the patient.
        # A numbered title with values is an entry: "3. WebSailor (July 2025)".
        numbered = unnumbered(plain(raw)) != plain(raw)
        names = (
            follows is not None
            and only_names(title)
            and not (numbered or self.said.about.met_in(title))
        )
        prose = block.depth == 7 and sentence and not names
        self.said.about.meet(title)
        self.said.around.enter(block.depth, title)
        while self.sections and self.sections[-1][0] >= block.depth:
            self.sections.pop()
        stated = self.credits.stated(credit, block.span.start)
        if stated is None and self.sections and not is_generic_title(title):
            stated = self.sections[-1][1]
        self.sections.append((block.depth, stated))
        named = credit is None and not is_generic_title(title)
        label = head_of(title) if named and not (prose and has_finite_verb(title)) else ""
        self.title = Lead(text=label, about_patient=self.said.about.about_patient(title))
        valued = any(value.kind != "name" for value in protected_values(title))
        if prose:
            self._prose(block.span, Lead(stated=stated), None)
        elif sentence or valued:
            kind, reason = claim_type_of(title, credited=False)
            if names:
                kind, reason = ClaimType.META, _NAMES
            self.said.add(block.span, title, kind=kind, reason=reason, stated=stated)

    def _prose(self, span: Span, lead: Lead, follows: Block | None) -> None:
        listed = follows is not None and follows.kind in (
            BlockKind.ITEM, BlockKind.TABLE_HEAD, BlockKind.CODE
        )  # fmt: skip
        sentences = list(self.said.sentences(span))
        stated: StatedAttribution | None = None
        for index, sentence in enumerate(sentences):
            last = index == len(sentences) - 1
            over = None if last else self._line_title(sentence, sentences[index + 1])
            if over is not None:
                lead = replace(lead, stated=over)
            elif last and listed and plain(sentence.cut(self.answer)).endswith((":", "：")):
                self._introduce(sentence, lead, stated)
            else:
                stated = self.said.sentence(sentence, lead, stated)

    def _line_title(self, line: Span, below: Span) -> StatedAttribution | None:
        """The credit that a line such as "From the chart:" gives to the rest of its paragraph."""
        raw = masked(line.cut(self.answer))
        alone = "\n" in self.answer[line.end : below.start]
        if not alone or len(raw) > 80 or not raw.rstrip(" *_").endswith((":", "：")):
            return None
        return self.credits.stated(credit_of_title(raw, self.families), line.start)

    def _introduce(self, span: Span, lead: Lead, stated: StatedAttribution | None) -> None:
        """A line that ends in a colon: context of the list behind it, a claim only for its values."""
        raw = span.cut(self.answer)
        text = plain(raw).rstrip(":： ")
        self.said.about.meet(text)
        self.said.around.intro = text
        hidden = masked(raw)
        # What a line gives to a whole list must be said in a way that is known to credit.
        credit = find_credit(
            hidden, self.families, self.credits.tools, known=()
        ) or credit_of_title(hidden, self.families)
        if credit is None and (
            start := re.match(r"\s*(?:from|according to|per|in)\b", hidden, re.I)
        ):
            credit = credit_of_title(hidden[start.start() :], self.families)
        own = self.credits.stated(credit, span.start) or lead.stated
        label = text
        if credit is not None and credit.removable is not None and credit.removable.start == 0:
            label = plain(raw[credit.removable.end :]).rstrip(":： ")
        elif credit is not None and not has_finite_verb(text):
            label = ""
        label, joins = intro_label(label)
        if joins:
            label = self.said.about.resolved(label)
        self.intro = Lead(
            text=label or ("" if joins else lead.text),
            joins=joins,
            stated=own,
            about_patient=self.said.about.about_patient(text) or lead.about_patient,
        )
        values = [value.text for value in protected_values(text) if value.kind != "name"]
        if (stem := claimed_before_list(raw)) is not None:
            self.said.sentence(Span(start=span.start, end=span.start + stem), lead, stated)
        elif values and not (label and all(value in label for value in values)):
            self.said.sentence(span, lead, stated)
        else:
            first = len(self.said.found)
            before = Span(start=span.start, end=span.start + len(raw.rstrip(":： ")))
            self.said.sentence(before, lead, stated)
            past = len(self.said.found)
            self.introduced.append(_Introduced(span, text, bool(values), first, past))

    def _settle(self, line: _Introduced) -> None:
        """What an introduction says is set aside where a claim under it says it too, and a claim of its
        own where none does: it would pass unread."""
        found = self.said.found
        own = found[line.first : line.past]
        factual = [one.text for one in found[line.past :] if one.claim_type is ClaimType.FACTUAL]
        words = stems(line.text)
        carried = any(words <= stems(text) for text in factual)
        colon = line.span.cut(self.answer).rstrip(" *_").endswith((":", "："))
        kind, _ = claim_type_of(f"{line.text}:" if colon else line.text, credited=False)
        says = kind is ClaimType.FACTUAL and any(one.claim_type is kind for one in own)
        counted = _COUNTED.fullmatch(line.text) is not None
        if says and not carried and not counted:
            return
        found[line.first : line.past] = []
        if line.valued:
            why = _CARRIED if carried else _NAMES
            self.said.add(line.span, line.text, kind=ClaimType.META, reason=why)
            found.insert(line.first, found.pop())

    def _item(self, block: Block, follows: Block | None) -> None:
        while self.parents and self.parents[-1][0] >= block.depth:
            self.parents.pop()
        self.said.around.item(block.depth)
        lead = self.parents[-1][1] if self.parents else self.intro or self._outer()
        if lead.stated is None:
            lead = replace(lead, stated=self._outer().stated)
        nested = (
            follows is not None
            and follows.kind in (BlockKind.ITEM, BlockKind.TABLE_HEAD)
            and (follows.depth > block.depth or follows.kind is not BlockKind.ITEM)
        )
        if not nested:
            self._prose(block.span, lead, None)
            return
        text = plain(block.span.cut(self.answer))
        colon = text.endswith((":", "："))
        bare = not has_finite_verb(text) and not any(
            value.kind != "name" for value in protected_values(text)
        )
        before, intro_before = self.intro, self.said.around.intro
        if colon or bare:
            self._introduce(block.span, lead, None)
        else:
            self._prose(block.span, lead, None)
        intro = self.intro if (colon or bare) else None
        self.intro, self.said.around.intro = before, intro_before
        self.said.around.parents.append((block.depth, head_of(text) or text[:90]))
        if intro is None:
            label = "" if has_finite_verb(head_of(text)) else head_of(text)
            intro = replace(lead, text=label or lead.text, joins=False if label else lead.joins)
        elif not intro.text:
            intro = replace(intro, text=lead.text, joins=lead.joins)
        self.parents.append((block.depth, intro))

    def _table_head(self, block: Block, follows: Block | None) -> None:
        self.columns = tuple(plain(cell.cut(self.answer)) for cell in block.cells)
        self.columns_group, self.row_head = block.group, ""
        if follows is None or follows.kind is not BlockKind.ROW or follows.group != block.group:
            self._prose(block.span, self._outer(), None)
            return
        for cell, column in zip(block.cells, self.columns, strict=True):
            if (may_assert(column) or is_written_out(column)) and len(column.split()) >= 3:
                self._prose(cell, self._outer(), None)

    def _row(self, block: Block) -> None:
        cells = [cell_text(cell.cut(self.answer)) for cell in block.cells]
        named = self.columns if self.columns_group == block.group else ()
        if cells and cells[0]:
            self.row_head = cells[0]
        elif named:  # a cell that spans the rows above goes on
            self.said.around.parents = [(0, self.row_head)]
        lead = self.intro or self._outer()
        stated = lead.stated or self._outer().stated
        for index, column in enumerate(named[: len(cells)]):
            credit = self._column_credit(column, block.cells[index])
            if credit is not None:
                stated = credit
                if not protected_values(cells[index]):
                    cells[index] = ""
        people = [
            at for at, name in enumerate(named[: len(cells)]) if name in self.said.about.people
        ]
        if sum(bool(cells[at]) for at in people) < 2:
            people = []
        # Columns that are patients hold a fact each: a claim is about one of them.
        for kept, span in [(at, block.cells[at]) for at in people] or [(-1, block.span)]:
            shown = [at for at in range(len(cells)) if at == kept or at not in people]
            text = row_text(
                [cells[at] for at in shown], [named[at] if named else "" for at in shown]
            )
            if kept > 0 and len(shown) == 2 and cells[0] and cells[kept]:
                text = f"{named[kept]} - {cells[0]}: {cells[kept]}"  # whom it is about comes first
            if kept < 0 and named and sum(len(cell.split()) > 4 for cell in cells[1:]) > 1:
                self._long_cells(block, cells, named, lead, stated)
            elif text and (kept < 0 or cells[kept]):
                self.said.about.meet(text)
                self.said.add(
                    span,
                    led(lead, text),
                    stated=stated,
                    lead=lead,
                )

    def _long_cells(
        self,
        block: Block,
        cells: Sequence[str],
        columns: Sequence[str],
        lead: Lead,
        stated: StatedAttribution | None,
    ) -> None:
        """A row of sentences says something in each cell: of its first cell, under its column."""
        for index in range(1, len(cells)):
            column = columns[index] if index < len(columns) else ""
            label = " - ".join(filter(None, (cells[0] or cells[min(1, index - 1)], column)))
            if any(character.isalnum() for character in cells[index]):
                self._prose(
                    block.cells[index],
                    replace(lead, text=label, joins=False, stated=stated),
                    None,
                )

    def _column_credit(self, column: str, cell: Span) -> StatedAttribution | None:
        """The credit in the cell of a column that names where each row is from."""
        if _SOURCE_COLUMN.fullmatch(column.strip()) is None:
            return None
        return self.credits.of_cell(cell)

    def _data(self, block: Block) -> bool:
        """Reads a block of data, fenced or bare, field by field; False where it is none."""
        lead = self.intro or self._outer()
        fenced = block.kind is BlockKind.CODE
        fields = data_fields(block.span.cut(self.answer), block.language, fenced=fenced)
        for field in fields:
            start = block.span.start
            place = Span(start=start + field.span.start, end=start + field.span.end)
            text = led(lead, field.text)
            self.said.add(place, text, kind=ClaimType.FACTUAL, stated=lead.stated, lead=lead)
        return bool(fields)

    def _code(self, block: Block) -> None:
        said = code_prose(block.span.cut(self.answer), block.language)
        lead = self.intro or self._outer()
        if said is None:
            for line in written_lines(self.answer, block.span):
                self._prose(line, lead, None)
            return
        reason = "A code block or drawing: it says nothing about the sources."
        self.said.add(block.span, block.span.cut(self.answer), kind=ClaimType.META, reason=reason)
        for place in said:
            start = block.span.start
            self._prose(Span(start=start + place.start, end=start + place.end), lead, None)


_LISTED = (BlockKind.ITEM, BlockKind.ROW)
_NAMES = "A title: it names what stands under it."
# "Flight Option 2", "Day 3": one of several that only a number tells apart.
_COUNTED = re.compile(
    r"(?:[^\W\d_]+ ){0,3}(?:option|day|step|stop|part|phase|plan|case|example|question|item|section|slide|"
    r"chapter|level|task|week|session|scenario|alternative|choice|version|round) \d{1,2}",
    re.IGNORECASE,
)
_CARRIED = "An introduction: what it says is carried into the claims under it."
_SOURCE_COLUMN = re.compile(
    r"(?:source|sources|from|found in|origin|reference|where|where from|evidence|according to|"
    r"provenance|"
    r"tool|data source)",
    re.IGNORECASE,
)


# "Mindmap Structure Created", "Technical Issues Encountered": nobody is said to have done it.
_DONE = re.compile(
    r"(?:created|encountered|used|found|included|completed|generated|covered|retrieved|accomplished|"
    r"identified|recommended|saved|provided|performed|added|consulted|reviewed|needed|required)\Z",
    re.IGNORECASE,
)
# "Interactive Mindmap Features", "Estimated Weekly Cost": the noun, not the verb.
_NOUN_TOO = re.compile(
    r"\b(?:features?|costs?|needs?|results?|reports?|notes?|measures?|tests?|reviews?|changes?|uses?|"
    r"visits?|runs?|updates?|works?|shows?|lists?|plans?|documents?|records?|covers?|returns?|ends?|"
    r"closes?|means?|releases?|scores?|ranks?|stops?|starts?)(?=\Z|\s+(?:of|for|in|from|and|&)\b)",
    re.IGNORECASE,
)
_QUESTION_WORD = re.compile(r"(?:what|how|why|where|who|when)\b(?!.*\?)", re.IGNORECASE)
_NAMING = ("date", "time", "name")


def only_names(title: str) -> bool:
    """Whether a heading set as a title holds no verb and no value but a date or a time."""
    if not _set_as_title(title):
        return False
    bare = re.sub(r"[:\u2013\u2014-]+\s*\Z", "", title).strip()
    verbless = not has_finite_verb(_NOUN_TOO.sub(" ", _DONE.sub(" ", bare)))
    asked = _QUESTION_WORD.match(bare) is not None and len(bare.split()) <= 6
    if not (verbless or asked):
        return False
    return all(value.kind in _NAMING or _counts(value.text) for value in protected_values(bare))


def _counts(value: str) -> bool:
    """Whether a value is a small whole number that may number or count what stands below."""
    return re.fullmatch(r"\d{1,2}", value) is not None


def _set_as_title(title: str) -> bool:
    words = [word for word in re.findall(r"[^\W\d_][\w'’-]*", title) if len(word) > 3]
    return bool(words) and all(word[0].isupper() or word[0].isdigit() for word in words)
