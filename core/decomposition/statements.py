"""An answer as statements in order, each with its place, its context and its credit (III.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.attribution.bylines import Bylines
from core.attribution.cues import Credit, credit_of_title, find_credit
from core.attribution.families import LITERATURE, REGISTRY, Families
from core.attribution.named_source import NamedSources
from core.decomposition.added_values import split_statement
from core.decomposition.answer_lines import (
    capitalised,
    cell_text,
    finished,
    heads_a_list,
    label_and_value,
    labelled_cells,
    list_members,
    people_shares,
    row_text,
    run_in_joined,
    run_in_label,
    standing_lines,
    tidy,
    written_lines,
)
from core.decomposition.claim_type import (
    aside_of_sentence,
    claim_type_of,
    is_generic_title,
    is_written_out,
)
from core.decomposition.clauses import has_finite_verb, may_assert, reads_as_sentence
from core.decomposition.code_prose import code_prose
from core.decomposition.coreference import Referents
from core.decomposition.heading_context import Lead, head_of, intro_label, led, unnumbered
from core.decomposition.markdown import Block, BlockKind, blocks, link_titles, masked, plain
from core.evidence.values import protected_values
from core.records import Citation, ClaimType, Source, Span, StatedAttribution, Trace
from core.text.sentences import sentence_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A stretch of the answer that says one thing; ``text`` stands alone, ``span`` is where it is said."""

    span: Span
    text: str
    claim_type: ClaimType
    reason: str | None
    stated: StatedAttribution | None
    patient_specific: bool
    subject: str | None


def read_statements(trace: Trace, answer: str, families: Families) -> list[Statement]:
    """The statements of an answer in order, factual ones and what is set aside with its reason."""
    return _Reader(trace, answer, families).read()


class _Reader:
    """Reads an answer top to bottom, remembering what governs the next line."""

    def __init__(self, trace: Trace, answer: str, families: Families) -> None:
        self.trace, self.answer, self.families = trace, answer, families
        self.source_families = families.families_of(trace.sources)
        self.known = frozenset(self.source_families.values())
        self.bylines = Bylines(
            [
                source
                for source in trace.sources
                if self.source_families[source.source_id] in (LITERATURE, REGISTRY)
            ],
            families,
        )
        self.named = NamedSources(trace.sources)
        self.tools = _named_tools(trace.sources)
        self.about = Referents.of(trace, answer, self.source_families)
        self.found: list[Statement] = []
        self.title = Lead()  # the heading above
        self.sections: list[tuple[int, StatedAttribution | None]] = []  # levels and their credits
        self.intro: Lead | None = None  # the line in front of the list or table
        self.parents: list[tuple[int, Lead]] = []  # list items above, with their depths
        self.columns: tuple[str, ...] = ()
        self.columns_group = -1
        self.of_person = False  # whether this block is about a patient
        self.of_study = False

    def read(self) -> list[Statement]:
        layout = blocks(self.answer)
        for index, block in enumerate(layout):
            follows = layout[index + 1] if index + 1 < len(layout) else None
            if block.kind is not BlockKind.ITEM:
                self.parents = []
            if block.kind in (BlockKind.ITEM, BlockKind.ROW, BlockKind.TABLE_HEAD):
                pass
            elif block.kind is not BlockKind.CODE:
                self.intro = None
            self._block(block, follows)
        return self.found

    def _block(self, block: Block, follows: Block | None) -> None:
        # Notes on one patient go on being about that patient until a study is spoken of.
        text = block.span.cut(self.answer)
        if block.kind is BlockKind.HEADING or _STUDY.search(text) or self.about.met_in(text):
            self.of_study = _STUDY.search(text) is not None and not self.about.met_in(text)
        self.of_person = self.about.asked_person and not self.of_study
        for title in link_titles(block.span.cut(self.answer)):
            start = block.span.start
            place = Span(start=start + title.start, end=start + title.end)
            self._add(place, plain(place.cut(self.answer)))
        if block.kind is BlockKind.HEADING:
            self._heading(block)
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

    def _outer(self) -> Lead:
        """The heading above, with the credit of its section."""
        return replace(self.title, stated=self.sections[-1][1] if self.sections else None)

    def _heading(self, block: Block) -> None:
        raw = block.span.cut(self.answer)
        title = unnumbered(plain(raw)).rstrip(":：").strip()
        credit = credit_of_title(masked(raw), self.families)
        asserts = may_assert(title) or is_written_out(title)
        sentence = asserts and len(title.split()) >= 3 and credit is None
        if block.depth == 7 and sentence:
            self._prose(block.span, self._outer(), None)
            return
        self.about.meet(title)
        while self.sections and self.sections[-1][0] >= block.depth:
            self.sections.pop()
        stated = self._stated(credit, block.span.start)
        if stated is None and self.sections and not is_generic_title(title):
            stated = self.sections[-1][1]
        self.sections.append((block.depth, stated))
        label = "" if credit is not None or is_generic_title(title) else head_of(title)
        self.title = Lead(text=label, about_patient=self.about.about_patient(title))
        if sentence or any(value.kind != "name" for value in protected_values(title)):
            kind, reason = claim_type_of(title, credited=False)
            self._add(block.span, title, kind=kind, reason=reason, stated=stated)
        self.about.topic = None

    def _prose(self, span: Span, lead: Lead, follows: Block | None) -> None:
        listed = follows is not None and follows.kind in (
            BlockKind.ITEM, BlockKind.TABLE_HEAD, BlockKind.CODE
        )  # fmt: skip
        sentences = list(self._sentences(span))
        stated: StatedAttribution | None = None
        for index, sentence in enumerate(sentences):
            last = index == len(sentences) - 1
            over = None if last else self._line_title(sentence, sentences[index + 1])
            if over is not None:
                lead = replace(lead, stated=over)
            elif last and listed and plain(sentence.cut(self.answer)).endswith((":", "：")):
                self._introduce(sentence, lead, stated)
            else:
                stated = self._sentence(sentence, lead, stated)

    def _line_title(self, line: Span, below: Span) -> StatedAttribution | None:
        """The credit that a line such as "From the chart:" gives to the rest of its paragraph."""
        raw = masked(line.cut(self.answer))
        alone = "\n" in self.answer[line.end : below.start]
        if not alone or len(raw) > 80 or not raw.rstrip(" *_").endswith((":", "：")):
            return None
        return self._stated(credit_of_title(raw, self.families), line.start)

    def _introduce(self, span: Span, lead: Lead, stated: StatedAttribution | None) -> None:
        """A line that ends in a colon: context of the list behind it, a claim only for its values."""
        raw = span.cut(self.answer)
        text = plain(raw).rstrip(":： ")
        self.about.meet(text)
        hidden = masked(raw)
        # What a line gives to a whole list must be said in a way that is known to credit.
        credit = find_credit(hidden, self.families, self.tools, known=()) or credit_of_title(
            hidden, self.families
        )
        if credit is None and (
            start := re.match(r"\s*(?:from|according to|per|in)\b", hidden, re.I)
        ):
            credit = credit_of_title(hidden[start.start() :], self.families)
        own = self._stated(credit, span.start) or lead.stated
        label = text
        if credit is not None and credit.removable is not None and credit.removable.start == 0:
            label = plain(raw[credit.removable.end :]).rstrip(":： ")
        elif credit is not None and not has_finite_verb(text):
            label = ""
        label, joins = intro_label(label)
        if joins:
            label = self.about.resolved(label)
        self.intro = Lead(
            text=label or ("" if joins else lead.text),
            joins=joins,
            stated=own,
            about_patient=self.about.about_patient(text) or lead.about_patient,
        )
        values = [value.text for value in protected_values(text) if value.kind != "name"]
        if values and label and all(value in label for value in values):
            reason = "An introduction: what it says is carried into the claims under it."
            self._add(span, text, kind=ClaimType.META, reason=reason)
        elif values:
            self._sentence(span, lead, stated)

    def _item(self, block: Block, follows: Block | None) -> None:
        while self.parents and self.parents[-1][0] >= block.depth:
            self.parents.pop()
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
        before = self.intro
        if colon or bare:
            self._introduce(block.span, lead, None)
        else:
            self._prose(block.span, lead, None)
        intro = self.intro if (colon or bare) else None
        self.intro = before
        if intro is None:
            label = "" if has_finite_verb(head_of(text)) else head_of(text)
            intro = replace(lead, text=label or lead.text, joins=False if label else lead.joins)
        elif not intro.text:
            intro = replace(intro, text=lead.text, joins=lead.joins)
        self.parents.append((block.depth, intro))

    def _table_head(self, block: Block, follows: Block | None) -> None:
        self.columns = tuple(plain(cell.cut(self.answer)) for cell in block.cells)
        self.columns_group = block.group
        if follows is None or follows.kind is not BlockKind.ROW or follows.group != block.group:
            self._prose(block.span, self._outer(), None)
            return
        for cell, column in zip(block.cells, self.columns, strict=True):
            if (may_assert(column) or is_written_out(column)) and len(column.split()) >= 3:
                self._prose(cell, self._outer(), None)

    def _row(self, block: Block) -> None:
        cells = [cell_text(cell.cut(self.answer)) for cell in block.cells]
        named = self.columns if self.columns_group == block.group else ()
        lead = self.intro or self._outer()
        stated = lead.stated or self._outer().stated
        for index, column in enumerate(named[: len(cells)]):
            credit = self._column_credit(column, block.cells[index])
            if credit is not None:
                stated = credit
                if not protected_values(cells[index]):
                    cells[index] = ""
        people = [at for at, name in enumerate(named[: len(cells)]) if name in self.about.people]
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
                self.about.meet(text)
                self._add(span, led(lead, text), stated=stated, lead=lead)

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
            label = f"{cells[0]} - {column}".strip(" -") if cells[0] else column
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
        return self._stated(
            credit_of_title(masked(cell.cut(self.answer)), self.families), cell.start
        )

    def _code(self, block: Block) -> None:
        said = code_prose(block.span.cut(self.answer), block.language)
        lead = self.intro or self._outer()
        if said is None:
            for line in written_lines(self.answer, block.span):
                self._prose(line, lead, None)
            return
        reason = "A code block or drawing: it says nothing about the sources."
        self._add(block.span, block.span.cut(self.answer), kind=ClaimType.META, reason=reason)
        for place in said:
            start = block.span.start
            self._prose(Span(start=start + place.start, end=start + place.end), lead, None)

    # ------------------------------------------------------------ sentences

    def _sentences(self, span: Span) -> Iterator[Span]:
        for piece in standing_lines(self.answer, span):
            text = piece.cut(self.answer)
            places = list(sentence_spans(text))
            for sentence in run_in_joined(text, places):
                yield Span(start=piece.start + sentence.start, end=piece.start + sentence.end)

    def _sentence(
        self, span: Span, lead: Lead, before: StatedAttribution | None
    ) -> StatedAttribution | None:
        """Adds the sentence's claims; gives the credit that the next sentence may go on with."""
        for cell in labelled_cells(self.answer, span):
            stated = self._statement(cell, lead, before)
        return stated

    def _statement(
        self, span: Span, lead: Lead, before: StatedAttribution | None
    ) -> StatedAttribution | None:
        remark = _behind_remark(self.answer, span)
        span = remark if remark is not None else span
        label, value = run_in_label(self.answer, span)
        if value is not None:
            span = value
            lead = lead if is_generic_title(label) else replace(lead, text=label, joins=False)
        raw = span.cut(self.answer)
        hidden = masked(raw)
        aside = aside_of_sentence(plain(raw))
        if aside is not None:
            self._add(span, plain(raw), kind=aside[0], reason=aside[1], lead=lead)
            return None
        credit = self._found(hidden)
        own = self._stated(credit, span.start)
        if own is None and (named := self.bylines.byline(hidden)) is not None:
            credit = Credit(span=named, families=(LITERATURE,), removable=None)
            own = self._stated(credit, span.start)
        stated = own
        if own is None and before is not None and _goes_on(plain(raw)):
            stated = before
        body = span
        if credit is not None and credit.removable is not None:
            body = _without(span, raw, credit.removable)
        label, value = label_and_value(self.answer, body)
        text = plain(body.cut(self.answer))
        if not any(character.isalnum() for character in text):
            return stated
        if label and value is not None:
            listed = list_members(self.answer, value)
            if len(listed) > (1 if heads_a_list(label) else 2):
                for item in listed:
                    said = f"{label}: {plain(item.cut(self.answer))}"
                    self._add(item, led(lead, said), stated=stated or lead.stated, lead=lead)
                return stated
        if label and value is not None and is_generic_title(label):
            body, text, label = value, plain(value.cut(self.answer)), ""
        shares = people_shares(self.answer, body, self.about.people)
        if shares:
            for share in shares[1]:
                said = finished(plain(share.cut(self.answer)))
                self.about.meet(said)
                said = f"{shares[0]}: {said}" if shares[0] else said
                self._add(share, led(lead, said), stated=stated or lead.stated, lead=lead)
            return stated
        whole = reads_as_sentence(plain(value.cut(self.answer)) if label and value else text)
        parts = split_statement(masked(body.cut(self.answer)))
        places = [
            Span(start=body.start + part.span.start, end=body.start + part.span.end)
            for part in parts
        ]
        credited_from = _credited_from(self.answer, places, own)
        for part, place in zip(parts, places, strict=True):
            said = finished(" ".join(plain(self._piece(body, piece)) for piece in part.pieces))
            if not any(character.isalnum() for character in said):
                continue
            # A list that opens a sentence makes statements of its items: "The plan is: stop X".
            judged = led(lead, said) if lead.joins and not whole else said
            given = stated if place.start >= credited_from else None
            if len(parts) > 1 and own is not None and own.family is None and own.source_id is None:
                given = (
                    self._credit_of(place) or given
                )  # "the chart lists X, and the trial found Y"
            kind, reason = claim_type_of(judged, credited=given is not None)
            self.about.meet(said)
            self.of_person = self.of_person or any(name in said for name in self.about.people)
            if kind is ClaimType.FACTUAL:
                said = self.about.resolved(said)
                whole_part = whole if len(parts) == 1 else reads_as_sentence(said)
                said = capitalised(said if whole_part else led(lead, said))
                said = self.about.named(said, lead.about_patient or self.of_person)
            self._add(place, said, kind=kind, reason=reason, stated=given or lead.stated, lead=lead)
        self.about.remember_topic(text)
        # Only a credit that opens its sentence may go on: "…, per the chart" is for what it ends.
        opens = own is None or not raw[: own.span.start - span.start].strip(" *_\"'")
        return stated if opens else None

    def _credit_of(self, place: Span) -> StatedAttribution | None:
        """What a part of a sentence credits by itself."""
        hidden = masked(place.cut(self.answer))
        return self._stated(self._found(hidden), place.start)

    def _found(self, hidden: str) -> Credit | None:
        return find_credit(hidden, self.families, self.tools, known=self.known)

    def _piece(self, body: Span, piece: Span) -> str:
        return self.answer[body.start + piece.start : body.start + piece.end]

    def _add(
        self,
        span: Span,
        text: str,
        *,
        kind: ClaimType | None = None,
        reason: str | None = None,
        stated: StatedAttribution | None = None,
        lead: Lead | None = None,
    ) -> None:
        span = tidy(self.answer, span)
        if span.start >= span.end:
            return
        if kind is None:
            kind, reason = claim_type_of(text, credited=stated is not None)
        cited = self._cited(span)
        specific = kind is ClaimType.FACTUAL and self.about.is_specific(text, lead, cited or stated)
        subject = self.about.subject_of(text) if specific else None
        self.found.append(
            Statement(
                span=span,
                text=text,
                claim_type=kind,
                reason=reason,
                stated=cited or stated,
                patient_specific=specific,
                subject=subject,
            )
        )

    # ------------------------------------------------------------ credits

    def _stated(self, credit: Credit | None, offset: int) -> StatedAttribution | None:
        if credit is None:
            return None
        span = tidy(
            self.answer, Span(start=offset + credit.span.start, end=offset + credit.span.end)
        )
        family = credit.families[0] if len(credit.families) == 1 else None
        source_id, also = credit.source_id, tuple[str, ...]()
        # Where a trace also has a registry, "a 2019 trial found" may mean its entry or a paper.
        if family == LITERATURE and _ONLY_A_TRIAL.search(span.cut(self.answer)):
            also = tuple(one for one, of in self.source_families.items() if of == REGISTRY)
        if credit.tool is not None and source_id is None:
            called = {
                self.source_families[source.source_id]
                for source in self.trace.sources
                if source.tool_name.casefold() == credit.tool
            }
            family = called.pop() if len(called) == 1 else family
        elif source_id is None and (named := self._named(credit, span)):
            source_id, also = named[0], named[1:]
        elif (
            source_id is None
            and set(credit.families) <= {LITERATURE, REGISTRY}
            and (meant := self.bylines.sources_meant(span.cut(self.answer)))
        ):
            source_id, also = meant[0], meant[1:]
        if source_id is not None:
            family = self.source_families.get(source_id, family)
        return StatedAttribution(
            text=plain(span.cut(self.answer)),
            span=span,
            family=family,
            source_id=source_id,
            also=also,
        )

    def _named(self, credit: Credit, span: Span) -> tuple[str, ...]:
        """The sources of the credited kind that the cue, or the mark right behind it, names."""
        return tuple(
            source_id
            for source_id in self.named.meant(self.answer[span.start : span.end + 3])
            if any(
                self.families.compatible(family, self.source_families[source_id])
                for family in credit.families
            )
        )

    def _cited(self, span: Span) -> StatedAttribution | None:
        """The citation marks on a claim, or right behind it, as its stated attribution."""
        marks = [mark for mark in self.trace.citations if _marks(self.answer, mark, span)]
        if not marks:
            return None
        ids = {mark.source_id for mark in marks if mark.source_id is not None}
        cited = [one.source_id for one in self.trace.sources if one.source_id in ids]
        named = {self.source_families[one] for one in ids if one in self.source_families}
        if not ids:
            mentioned = {
                mention.family_id for mark in marks for mention in self.families.mentions(mark.text)
            } | {
                LITERATURE for mark in marks if mark.url and re.search(r"pubmed|doi\.org", mark.url)
            }
            named = mentioned
        return StatedAttribution(
            text=", ".join(dict.fromkeys(mark.text for mark in marks)),
            span=marks[0].span,
            family=named.pop() if len(named) == 1 else None,
            source_id=cited[0] if cited else None,
            also=tuple(cited[1:]),
        )


# ---------------------------------------------------------------- credits

_STUDY = re.compile(
    r"\b(?:PMID|NCT\d|trials?|stud(?:y|ies)|papers?|literature|abstracts?|cohorts?|mice|mouse|rats?|"
    r"reviews?|meta-analys[ie]s|participants|evidence|research|published|authors?|journal|guidelines?)\b",
    re.IGNORECASE,
)
_SOURCE_COLUMN = re.compile(
    r"(?:source|sources|from|found in|origin|reference|where|where from|evidence|according to|"
    r"provenance|"
    r"tool|data source)",
    re.IGNORECASE,
)
_ONLY_A_TRIAL = re.compile(
    r"\A(?!.*(?:pubmed|literature|publi|journal|paper|article|abstract|et al)).*\b(?:trials?|"
    r"rcts?|study|studies)\b",
    re.IGNORECASE | re.DOTALL,
)


def _named_tools(sources: Sequence[Source]) -> tuple[tuple[str, str | None], ...]:
    """(folded name, source_id) for every tool; no id where several sources come from it."""
    counts: dict[str, list[str]] = {}
    for source in sources:
        for name in {source.tool_name.casefold(), source.source_id.casefold()}:
            if len(name) >= 5 and re.search(r"[_/:#.-]", name):
                counts.setdefault(name, []).append(source.source_id)
    pairs = ((name, ids[0] if len(ids) == 1 else None) for name, ids in counts.items())
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0])))[:200]


def _credited_from(answer: str, parts: Sequence[Span], own: StatedAttribution | None) -> int:
    """From where on a sentence's own credit counts.

    "She has asthma, and the trial showed that …": what opens a later part credits nothing before it.
    "…, and the guideline supports this" says it of all.
    """
    if own is None:
        return 0
    for part in parts[1:]:
        opens = part.start <= own.span.start < part.end
        if opens and not _WORD.search(_AND.sub("", answer[part.start : own.span.start])):
            return part.start if len(_WORD.findall(answer[own.span.end : part.end])) >= 2 else 0
    return 0


_WORD = re.compile(r"\w+")
_AND = re.compile(
    r"^\W*(?:and|but|while|whereas|so|yet|however|also|the|a|an|his|her|their|your)\b"
)


def _goes_on(text: str) -> bool:
    """Whether a sentence goes on with what the one before was credited to."""
    return re.match(
        # "He takes …" behind a credit says nothing of its source; "he also takes …" does.
        r"(?:it|they|(?:he|she) also|its|their|also|in addition|additionally|furthermore|moreover|"
        r"the (?:same|study|trial|authors|paper|review|chart|record|label|entry|"
        r"abstract)(?! (?:number|id)\b)|"
        r"this (?:study|trial|paper|review|record|entry|patient))\b",
        text,
        re.IGNORECASE,
    ) is not None  # fmt: skip


def _without(span: Span, raw: str, removable: Span) -> Span:
    """The span without a credit at its edge, unless the credit holds a value of its own."""
    cut = removable.cut(raw)
    if any(value.kind != "name" for value in protected_values(cut)):
        return span
    if removable.start == 0:
        return Span(start=span.start + removable.end, end=span.end)
    if not raw[removable.end :].strip(" .\"'*_)"):
        return Span(start=span.start, end=span.start + removable.start)
    return span


def _marks(answer: str, mark: Citation, span: Span) -> bool:
    if mark.span.overlaps(span):
        return True
    if not 0 <= mark.span.start - span.end <= 24:
        return False
    between = answer[span.end : mark.span.start]
    return not re.sub(r"\[\^?\d+\]|[\s.,;()]", "", between)


def _behind_remark(answer: str, span: Span) -> Span | None:
    """What stands behind "Here is what I found: " on the same line."""
    text = masked(span.cut(answer))
    colon = re.search(r":\s+(?=\S)", text)
    if colon is None:
        return None
    before = text[: colon.start()]
    aside = aside_of_sentence(before) or claim_type_of(before, credited=False)
    if aside[0] is not ClaimType.META:
        return None
    return tidy(answer, Span(start=span.start + colon.end(), end=span.end))
