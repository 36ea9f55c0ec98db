"""III.2: the answer as atomic claims, deterministic and rule-based.

A claim expresses one factual proposition, keeps its literal values exactly, stands alone (its
subject or the heading above it is carried into ``text``), and knows the stretch of the answer that
says it. What claims nothing checkable is returned too, set aside with the reason, so that every
protected value of the answer is in some claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.config import Config
from core.records import Citation, Claim, ClaimType, Source, Span, StatedAttribution, Trace
from core.text.blocks import Block, BlockKind, blocks, masked, plain
from core.text.clauses import has_finite_verb, split_facts
from core.text.credits import Credit, credit_of_title, find_credit
from core.text.families import LITERATURE, Families, load_families
from core.text.kinds import claim_type_of, is_generic_title, is_program
from core.text.sentences import sentence_spans
from core.text.values import names_in, protected_values


def decompose(trace: Trace, config: Config, families: Families | None = None) -> tuple[Claim, ...]:
    """The claims of a trace's answer in order (III.2); none when there is no answer text.

    Factual claims beyond ``config.max_claims`` carry ``beyond_limit`` and the reason.
    """
    answer = trace.answer or ""
    if not answer.strip():
        return ()
    reader = _Reader(trace, answer, families or load_families())
    drafts = reader.read()
    width = 3 if len(drafts) > 99 else 2
    claims, factual = [], 0
    for number, draft in enumerate(drafts, start=1):
        factual += draft.claim_type is ClaimType.FACTUAL
        beyond = draft.claim_type is ClaimType.FACTUAL and factual > config.max_claims
        reason = draft.reason
        if beyond:
            reason = (
                f"The answer makes more than {config.max_claims} factual claims; "
                "this one is past the limit and was not judged."
            )
        claims.append(
            Claim(
                claim_id=f"{trace.trace_id}::c{number:0{width}d}",
                text=draft.text,
                span=draft.span,
                said=draft.span.cut(answer),
                claim_type=draft.claim_type,
                stated=draft.stated,
                protected_values=protected_values(draft.text),
                patient_specific=draft.patient_specific,
                subject=draft.subject,
                reason=reason,
                beyond_limit=beyond,
            )
        )
    return tuple(claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A claim before it has a number."""

    span: Span
    text: str
    claim_type: ClaimType
    reason: str | None
    stated: StatedAttribution | None
    patient_specific: bool
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lead:
    """What stands above a list item, a row or a fragment and makes it a statement.

    ``joins`` is True for the start of a sentence ("The patient takes"), False for a label.
    """

    text: str = ""
    joins: bool = False
    stated: StatedAttribution | None = None
    about_patient: bool = False


@dataclass(slots=True)
class _Reader:
    """Reads an answer top to bottom, remembering what governs the next line."""

    trace: Trace
    answer: str
    families: Families
    drafts: list[_Draft] = field(default_factory=list)
    title: _Lead = field(default_factory=_Lead)
    sections: list[tuple[int, StatedAttribution | None]] = field(default_factory=list)
    intro: _Lead | None = None
    parents: list[tuple[int, _Lead]] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    columns_group: int = -1
    people: tuple[str, ...] = ()
    person: str | None = None
    topic: str | None = None
    tools: tuple[tuple[str, str], ...] = ()
    source_families: dict[str, str] = field(default_factory=dict)

    def __init__(self, trace: Trace, answer: str, families: Families) -> None:
        self.trace, self.answer, self.families = trace, answer, families
        self.drafts, self.sections, self.parents = [], [], []
        self.title, self.intro, self.topic = _Lead(), None, None
        self.columns, self.columns_group = (), -1
        self.source_families = families.families_of(trace.sources)
        self.tools = _unique_tools(trace.sources)
        self.people = _people(trace, answer, self.source_families)
        asked = [name for name in self.people if name in trace.question]
        self.person = asked[0] if asked else None

    def read(self) -> list[_Draft]:
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
        return self.drafts

    def _block(self, block: Block, follows: Block | None) -> None:
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

    def _outer(self) -> _Lead:
        """The heading above, with the credit of its section."""
        return replace(self.title, stated=self.sections[-1][1] if self.sections else None)

    def _heading(self, block: Block) -> None:
        raw = block.span.cut(self.answer)
        title = _unnumbered(plain(raw)).rstrip(":").strip()
        if block.depth == 7 and has_finite_verb(title) and len(title.split()) >= 4:
            self._prose(block.span, self._outer(), None)
            return
        self._meet(title)
        while self.sections and self.sections[-1][0] >= block.depth:
            self.sections.pop()
        credit = credit_of_title(masked(raw), self.families)
        stated = self._stated(credit, block.span.start)
        if stated is None and self.sections and not _generic(title):
            stated = self.sections[-1][1]
        self.sections.append((block.depth, stated))
        label = "" if credit is not None or _generic(title) else _head(title)
        self.title = _Lead(text=label, about_patient=self._about_patient(title))
        if any(value.kind != "name" for value in protected_values(title)):
            self._add(block.span, title, stated=stated)
        self.topic = None

    def _prose(self, span: Span, lead: _Lead, follows: Block | None) -> None:
        listed = follows is not None and follows.kind in (
            BlockKind.ITEM, BlockKind.TABLE_HEAD, BlockKind.CODE
        )  # fmt: skip
        sentences = list(self._sentences(span))
        stated: StatedAttribution | None = None
        for index, sentence in enumerate(sentences):
            last = index == len(sentences) - 1
            if last and listed and plain(sentence.cut(self.answer)).endswith((":", "：")):
                self._introduce(sentence, lead, stated)
            else:
                stated = self._sentence(sentence, lead, stated)

    def _introduce(self, span: Span, lead: _Lead, stated: StatedAttribution | None) -> None:
        """A line that ends in a colon: context of the list behind it, a claim only for its values."""
        raw = span.cut(self.answer)
        text = plain(raw).rstrip(":： ")
        self._meet(text)
        hidden = masked(raw)
        credit = find_credit(hidden, self.families, self.tools) or credit_of_title(
            hidden, self.families
        )
        if credit is None and (start := re.match(r"\s*(?:from|according to|per|in)\b", hidden, re.I)):
            credit = credit_of_title(hidden[start.start() :], self.families)
        own = self._stated(credit, span.start) or lead.stated
        label = text
        if credit is not None and credit.removable is not None and credit.removable.start == 0:
            label = plain(raw[credit.removable.end :]).rstrip(":： ")
        elif credit is not None and not has_finite_verb(text):
            label = ""
        label, joins = _intro_label(label)
        if joins:
            label = self._resolved(label)
        self.intro = _Lead(
            text=label or ("" if joins else lead.text),
            joins=joins,
            stated=own,
            about_patient=self._about_patient(text) or lead.about_patient,
        )
        if any(value.kind != "name" for value in protected_values(text)):
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
            label = "" if has_finite_verb(_head(text)) else _head(text)
            intro = replace(lead, text=label or lead.text, joins=False if label else lead.joins)
        elif not intro.text:
            intro = replace(intro, text=lead.text, joins=lead.joins)
        self.parents.append((block.depth, intro))

    def _table_head(self, block: Block, follows: Block | None) -> None:
        self.columns = tuple(plain(cell.cut(self.answer)) for cell in block.cells)
        self.columns_group = block.group
        if follows is None or follows.kind is not BlockKind.ROW:
            self._prose(block.span, self._outer(), None)

    def _row(self, block: Block) -> None:
        cells = [plain(cell.cut(self.answer)) for cell in block.cells]
        named = self.columns if self.columns_group == block.group else ()
        lead = self.intro or self._outer()
        text = _row_text(cells, named)
        if text:
            self._meet(text)
            self._add(
                block.span, _led(lead, text), stated=lead.stated or self._outer().stated, lead=lead
            )

    def _code(self, block: Block) -> None:
        if is_program(block.span.cut(self.answer), block.language):
            self.drafts.append(
                _Draft(
                    span=block.span,
                    text=block.span.cut(self.answer),
                    claim_type=ClaimType.META,
                    reason="A code block or drawing: it says nothing about the sources.",
                    stated=None,
                    patient_specific=False,
                    subject=None,
                )
            )
            return
        lead = self.intro or self._outer()
        for line in _lines(self.answer, block.span):
            self._prose(line, lead, None)

    # ------------------------------------------------------------ sentences

    def _sentences(self, span: Span) -> Iterator[Span]:
        for piece in _soft_lines(self.answer, span):
            text = piece.cut(self.answer)
            for sentence in sentence_spans(text):
                yield Span(start=piece.start + sentence.start, end=piece.start + sentence.end)

    def _sentence(
        self, span: Span, lead: _Lead, before: StatedAttribution | None
    ) -> StatedAttribution | None:
        """Adds the sentence's claims; gives the credit that the next sentence may go on with."""
        for cell in _piped(self.answer, span):
            stated = self._statement(cell, lead, before)
        return stated

    def _statement(
        self, span: Span, lead: _Lead, before: StatedAttribution | None
    ) -> StatedAttribution | None:
        raw = span.cut(self.answer)
        hidden = masked(raw)
        credit = find_credit(hidden, self.families, self.tools)
        own = self._stated(credit, span.start)
        stated = own
        if own is None and before is not None and _goes_on(plain(raw)):
            stated = before
        body = span
        if credit is not None and credit.removable is not None:
            body = _without(span, raw, credit.removable)
        label, value = _label_and_value(self.answer, body)
        text = plain(body.cut(self.answer))
        if not any(character.isalnum() for character in text):
            return stated
        if label and value is not None and _lists(label):
            listed = _listed(self.answer, value)
            if len(listed) > 1:
                for item in listed:
                    said = f"{label}: {plain(item.cut(self.answer))}"
                    self._add(item, _led(lead, said), stated=stated or lead.stated, lead=lead)
                return stated
        if label and value is not None and _generic(label):
            body, text, label = value, plain(value.cut(self.answer)), ""
        sentence = has_finite_verb(text) and not label
        kind, reason = claim_type_of(text, credited=stated is not None)
        if kind is not ClaimType.FACTUAL:
            self._meet(text)
            self._add(body, text, kind=kind, reason=reason, stated=stated, lead=lead)
            return stated
        hidden_body = masked(body.cut(self.answer))
        parts = split_facts(hidden_body)
        for part in parts:
            place = Span(start=body.start + part.span.start, end=body.start + part.span.end)
            place = _tidy(self.answer, place)
            said = " ".join(plain(self._piece(body, piece)) for piece in part.pieces)
            said = _finished(said)
            self._meet(said)
            said = self._resolved(said)
            if not sentence and not has_finite_verb(said.partition(":")[0]):
                said = _led(lead, said)
            self._add(place, said, stated=stated or lead.stated, lead=lead)
        self._remember_topic(text)
        return stated

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
        lead: _Lead | None = None,
    ) -> None:
        span = _tidy(self.answer, span)
        if span.start >= span.end:
            return
        if kind is None:
            kind, reason = claim_type_of(text, credited=stated is not None)
        cited = self._cited(span)
        specific = kind is ClaimType.FACTUAL and self._specific(text, lead, cited or stated)
        subject = self._subject(text) if specific else None
        self.drafts.append(
            _Draft(
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
        span = _tidy(
            self.answer, Span(start=offset + credit.span.start, end=offset + credit.span.end)
        )
        family = credit.families[0] if len(credit.families) == 1 else None
        if credit.source_id is not None:
            family = self.source_families.get(credit.source_id, family)
        return StatedAttribution(
            text=plain(span.cut(self.answer)), span=span, family=family, source_id=credit.source_id
        )

    def _cited(self, span: Span) -> StatedAttribution | None:
        """The citation marks on a claim, or right behind it, as its stated attribution."""
        marks = [mark for mark in self.trace.citations if _marks(self.answer, mark, span)]
        if not marks:
            return None
        ids = {mark.source_id for mark in marks if mark.source_id is not None}
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
            source_id=ids.pop() if len(ids) == 1 else None,
        )

    # ------------------------------------------------------------ who it is about

    def _meet(self, text: str) -> None:
        """Remembers the person that a text names last, for the pronouns behind it."""
        at = -1
        for name in self.people:
            place = text.rfind(name)
            if place > at:
                at, self.person = place, name

    def _resolved(self, text: str) -> str:
        """The text with the pronoun that opens it named, where it is known whom it means."""
        opening = re.match(r"(?:(?:and|but|also|however,|additionally,)\s+)?(he|she|his|her|it|its)\b",
                           text, re.IGNORECASE)  # fmt: skip
        if opening is None:
            return text[:1].upper() + text[1:]
        pronoun = opening.group(1).lower()
        name = self.topic if pronoun in ("it", "its") else self.person or self._patient()
        if name is None:
            return text[:1].upper() + text[1:]
        if pronoun in ("his", "her", "its"):
            name = name + ("'" if name.endswith("s") else "'s")
        return name + text[opening.end() :]

    def _patient(self) -> str | None:
        said = re.search(r"\b[Tt]he patient\b", self.answer)
        return "The patient" if said is not None else None

    def _remember_topic(self, text: str) -> None:
        opening = re.match(r"((?:The |A |An )?[A-Z][\w-]*(?: [\w-]+){0,4}?) (?:is|was|has|are|were|"
                           r"reduces|reduced|can|may|works|helps)\b", text)  # fmt: skip
        if opening is None:
            return
        name = opening.group(1)
        if name.split()[0].lower() not in ("this", "that", "these", "it", "there", "he", "she", "they"):
            self.topic = name

    def _about_patient(self, text: str) -> bool:
        named = any(name in text for name in self.people)
        return named or _PATIENT.search(text) is not None or _CHART_TITLE.search(text) is not None

    def _specific(self, text: str, lead: _Lead | None, stated: StatedAttribution | None) -> bool:
        """Whether the claim is about one patient, so that the record is where it belongs (III.6)."""
        if any(name in text for name in self.people) or _PATIENT.search(text):
            return True
        if stated is not None and stated.family == LITERATURE:
            return False
        fragment = not has_finite_verb(text)
        known = self.person is not None or _PATIENT.search(self.trace.question) is not None
        return fragment and known and lead is not None and lead.about_patient

    def _subject(self, text: str) -> str | None:
        named = [(text.find(name), name) for name in self.people if name in text]
        return min(named)[1] if named else self.person


# ---------------------------------------------------------------- people and tools

_PATIENT = re.compile(r"\b(?:the|this|your|our) patient(?:['’]s)?\b|\bpatient['’]s\b|\A\W*Patient:",
                      re.IGNORECASE)  # fmt: skip
_CHART_TITLE = re.compile(
    r"\b(?:(?:active|current|known|chronic|home|past)\s)?(?:medications?|conditions?|problems?|"
    r"allerg(?:y|ies)|diagnos[ie]s|vitals?|vital signs|labs?|lab results|laboratory|medical history|"
    r"demographics|immuni[sz]ations?|encounters?|problem list|observations?)\b",
    re.IGNORECASE,
)
_NAME_LINE = re.compile(
    r"(?:patient[\s_.]*)?\bname\b(?:\.text)?[\"']?\s*[:=]\s*[\"']?([A-Z][^\n\"';,|<>{}\[\]]{2,60})",
    re.IGNORECASE,
)
_PERSON_BEHIND = re.compile(
    r"(?:['’]s (?:chart|record|medical|medication|medications|history|problem|lab|labs|blood|allerg)"
    r"|,? \(?(?:MRN|DOB|patient|ID\b|[a-z]+[-_]\d)|,? (?:a|an|is a|is an) \d{1,3}[- ]year[- ]old)"
)
_MR = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|[Pp]atient|[Pp]t)[.:]? \Z")


def _people(trace: Trace, answer: str, families: dict[str, str]) -> tuple[str, ...]:
    """The patients that question, answer and records name, longest name first."""
    found: dict[str, None] = {}
    recorded: set[str] = set()
    for source in trace.sources:
        if families[source.source_id] in ("patient_record", "lab", "imaging", "other"):
            for match in _NAME_LINE.finditer(source.text[:20_000]):
                words = match.group(1).split()
                if 2 <= len(words) <= 5:
                    recorded.add(" ".join(words).casefold())
    for text in (trace.question, answer[:200_000]):
        for name in names_in(text):
            before = text[max(0, name.span.start - 12) : name.span.start]
            behind = text[name.span.end : name.span.end + 30]
            known = plain(name.text).casefold() in recorded
            cued = _MR.search(before) is not None or _PERSON_BEHIND.match(behind) is not None
            if known or cued or re.search(r"[Pp]atient (?:is|was|named) \Z", before + ""):
                found.setdefault(name.text)
    return tuple(sorted(found, key=lambda name: (-len(name), name)))[:50]


def _unique_tools(sources: Sequence[Source]) -> tuple[tuple[str, str], ...]:
    """(folded name, source_id) for every tool that one source alone comes from."""
    counts: dict[str, list[str]] = {}
    for source in sources:
        for name in {source.tool_name.casefold(), source.source_id.casefold()}:
            if len(name) >= 5 and re.search(r"[_/:#.-]", name):
                counts.setdefault(name, []).append(source.source_id)
    pairs = ((name, ids[0]) for name, ids in counts.items() if len(ids) == 1)
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0])))[:200]


# ---------------------------------------------------------------- layout


def _soft_lines(answer: str, span: Span) -> Iterator[Span]:
    """The lines of a paragraph that stand for themselves: labels, hard breaks, finished sentences."""
    start = span.start
    previous: Span | None = None
    for line in _lines(answer, span):
        if previous is not None:
            ended = re.search(r"(?:  |\\|[.!?:：。！？][*_\"')\]]*)\Z", answer[previous.start : previous.end])
            broken = answer[previous.end : previous.end + 2] == "  "
            text = line.cut(answer)
            if ended or broken or _LABEL.match(masked(text).lstrip()) or text.startswith(("**", "✅")):
                yield Span(start=start, end=previous.end)
                start = line.start
        previous = line
    if previous is not None:
        yield Span(start=start, end=previous.end)


def _lines(answer: str, span: Span) -> Iterator[Span]:
    start = span.start
    for match in re.finditer(r"\n|\r|\u2028|\u2029", span.cut(answer)):
        line = _tidy(answer, Span(start=start, end=span.start + match.start()))
        if line.start < line.end:
            yield line
        start = span.start + match.end()
    line = _tidy(answer, Span(start=start, end=span.end))
    if line.start < line.end:
        yield line


def _piped(answer: str, span: Span) -> list[Span]:
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


_LABEL = re.compile(r"[A-Z\u00c0-\uffff\d][^:.!?;|\n]{0,60}?\s*:(?=\s|\Z)(?!//)")


def _label_and_value(answer: str, span: Span) -> tuple[str, Span | None]:
    """A line's label and the span of what follows it; no label when the line is a sentence."""
    hidden = masked(span.cut(answer))
    lead = len(hidden) - len(hidden.lstrip())
    match = _LABEL.match(hidden.lstrip())
    if match is None:
        return "", None
    label = plain(span.cut(answer)[lead : lead + match.end()]).rstrip(": ")
    if len(label.split()) > 8 or has_finite_verb(label):
        return "", None
    value = _tidy(answer, Span(start=span.start + lead + match.end(), end=span.end))
    value_text = value.cut(answer)
    while value_text.startswith(("*", "_")) and value_text.count("**") % 2:
        value = _tidy(answer, Span(start=value.start + 2, end=value.end))
        value_text = value.cut(answer)
    return (label, value) if value.start < value.end else ("", None)


_LISTING = re.compile(
    r"\b(?:medications?|meds|conditions?|problems?|diagnos[ie]s|allergies|comorbidities|symptoms|drugs|"
    r"side effects|adverse (?:events|effects)|treatments|complaints|immuni[sz]ations|vaccines)\Z",
    re.IGNORECASE,
)


def _lists(label: str) -> bool:
    return _LISTING.search(label) is not None


def _listed(answer: str, value: Span) -> list[Span]:
    """The members of "asthma, GERD and hypertension"; one span when they cannot stand alone."""
    text = masked(value.cut(answer))
    if has_finite_verb(text) or re.search(r"\b(?:no|none|not|or|without|denies)\b", text, re.IGNORECASE):
        return [value]
    hidden = re.sub(r"\([^()]*\)", lambda match: "_" * len(match.group()), text)
    cuts = list(re.finditer(r"\s*;\s+|,\s+(?:and\s+)?(?!\d)|\s+and\s+", hidden))
    edges = [(cut.start(), cut.end()) for cut in cuts]
    items, at = [], 0
    for first, last in edges:
        items.append(_tidy(answer, Span(start=value.start + at, end=value.start + first)))
        at = last
    items.append(_tidy(answer, Span(start=value.start + at, end=value.end)))
    words = [plain(item.cut(answer)).split() for item in items]
    if any(not 1 <= len(each) <= 9 or not each[0][0].isalpha() for each in words):
        return [value]
    if any(re.match(r"(?i)(?:in|on|at|for|with|by|from|of|to|since|daily|once|twice)\b", each[0])
           for each in words):  # fmt: skip
        return [value]
    return items


def _row_text(cells: Sequence[str], columns: Sequence[str]) -> str:
    """ "HbA1c: Value 7.2 %; Date 2024-03-12" for a row under its column names."""
    filled = [
        (columns[index] if index < len(columns) else "", cell)
        for index, cell in enumerate(cells)
        if any(character.isalnum() for character in cell)
    ]
    if not filled:
        return ""
    if filled[0][1] != (cells[0] if cells else "") or len(filled) == 1:
        return "; ".join(f"{name}: {cell}" if name else cell for name, cell in filled)
    rest = "; ".join(f"{name}: {cell}" if name else cell for name, cell in filled[1:])
    return f"{filled[0][1]} - {rest}"


def _intro_label(text: str) -> tuple[str, bool]:
    """What an intro line gives to its items: (words, whether they open the item's sentence)."""
    text = re.sub(r"(?i)\s*,?\s*(?:including|include|includes|such as|like)?\s*(?:the|these) "
                  r"following(?: [\w-]+)?\Z", "", text).strip()  # fmt: skip
    text = re.sub(r"(?i)\A(?:based on [^,]{0,120},\s*)?(?:here(?:['’]s| is| are)|below (?:is|are)|"
                  r"these are|the following (?:is|are))\s+(?:(?:a|an) (?:[\w-]+ ){0,3}?"
                  r"(?:summary|overview|list|breakdown) of\s+)?(?:the\s+|your\s+)?", "", text)  # fmt: skip
    if _generic(text) or claim_type_of(text, credited=False)[0] is not ClaimType.FACTUAL:
        return "", False
    verbs = r"(?:is|are|was|were|has|have|had|takes|took|includes?|included|shows?|showed|lists?|on|with|for|of)"
    if has_finite_verb(text) and re.search(rf"\b{verbs}\Z|\b(?:taking|including|receiving)\Z", text):
        return text, True
    if has_finite_verb(text):
        return "", False
    return _head(text), False


def _led(lead: _Lead, text: str) -> str:
    if not lead.text or text.startswith(lead.text):
        return text
    if lead.joins:
        return f"{lead.text} {text}"
    return f"{lead.text}: {text}"


_GENERIC_ONLY = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?")


def _generic(title: str) -> bool:
    return is_generic_title(title)


def _head(text: str) -> str:
    """The part of a title or parent line that names it: "Jinx" of "Jinx (Champion 222) - Tier 1"."""
    head = re.split(r"\s*\(|\s+[-–—→]\s+", text, maxsplit=1)[0]
    match = re.match(r"(.{2,60}?):\s", head)
    if match is not None and not re.search(r"\d\Z", match.group(1)):
        head = match.group(1)
    return head.rstrip(": .") if len(head) <= 90 else ""


def _unnumbered(text: str) -> str:
    return re.sub(r"\A\s*(?:\(?\d{1,3}[.)]|[IVX]{1,4}\.|[A-Z][.)])\s+", "", text)


# ---------------------------------------------------------------- small text


def _goes_on(text: str) -> bool:
    """Whether a sentence goes on with what the one before was credited to."""
    return re.match(
        r"(?:it|they|he|she|his|her|its|their|also|in addition|additionally|furthermore|moreover|"
        r"the (?:same|study|trial|authors|paper|review|chart|record|label|entry|abstract)|"
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


def _tidy(answer: str, span: Span) -> Span:
    """The span without white space and loose punctuation at its edges."""
    start, end = span.start, span.end
    while start < end and (answer[start].isspace() or answer[start] in ",;|"):
        start += 1
    while end > start and (answer[end - 1].isspace() or answer[end - 1] in ",;|"):
        end -= 1
    return Span(start=start, end=end)


def _finished(text: str) -> str:
    return text.strip(" ,;|").removeprefix("- ").removeprefix("– ")


def _marks(answer: str, mark: Citation, span: Span) -> bool:
    if mark.span.overlaps(span):
        return True
    between = answer[span.end : mark.span.start]
    return 0 <= mark.span.start - span.end <= 24 and not re.sub(r"\[\^?\d+\]|[\s.,;()]", "", between)


def _values_of(claims: Iterable[Claim]) -> set[str]:
    return {value.normalised for claim in claims for value in claim.protected_values}
