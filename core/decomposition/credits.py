"""What an answer credits its statements to: cues, names, tools, papers and citation marks (III.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.attribution.bylines import Bylines
from core.attribution.cue_words import VERB
from core.attribution.cues import Credit, credit_of_title, find_credit
from core.attribution.described_source import (
    DescribedSources,
    credit_of_description,
    may_be_described,
)
from core.attribution.families import LITERATURE, REGISTRY, Families
from core.attribution.named_source import NamedSources
from core.decomposition.answer_lines import tidy
from core.decomposition.grammar import SUBJECTS, Grammar
from core.decomposition.markdown import masked, plain
from core.decomposition.parsing import Word, parsed
from core.evidence.values import protected_values
from core.records import Citation, Source, Span, StatedAttribution, Trace
from core.text.citation_marks import references


class Credits:
    """Finds the sources that an answer names, among those of its trace."""

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
        self.described = DescribedSources(trace.sources, self.source_families, families)
        self.tools = _named_tools(trace.sources)
        self.entries = references(answer)[0]

    def of(self, place: Span) -> StatedAttribution | None:
        """What a part of a sentence credits by itself."""
        return self.stated(self.found(masked(place.cut(self.answer))), place.start)

    def found(self, hidden: str) -> Credit | None:
        """The credit in a text whose markup is masked."""
        known = find_credit(hidden, self.families, self.tools, known=self.known)
        found = known or credit_of_description(hidden, self.described.mentions(hidden))
        if found is None:
            return self._notes(hidden) or self._apart(hidden)
        clause = said_clause(hidden, found.span) if found.removable is None else None
        return replace(found, removable=Span(start=0, end=clause)) if clause else found

    def _notes(self, hidden: str) -> Credit | None:
        """ "The chart notes she takes iron": the name of a kind of source, whose last word is the verb."""
        for mention in self.families.mentions(hidden[:_MOST_HEAD]):
            span = Span(start=0, end=mention.span.end)
            if _SPEAKS.fullmatch(mention.span.cut(hidden).split()[-1]) is None:
                continue
            clause = said_clause(hidden, span)
            if clause is not None:
                removable = Span(start=0, end=clause)
                return Credit(span=span, families=(mention.family_id,), removable=removable)
        return None

    def _apart(self, hidden: str) -> Credit | None:
        """What stands apart from the statement and is called after one source of the trace: "Usage log: …",
        "… on the order form"."""
        for slot in _SLOTS:
            for match in slot.finditer(hidden[:_MOST_SLOTS]):
                span = Span(start=match.start("who"), end=match.end("who"))
                named = self.named.meant(span.cut(hidden))
                meant = named[0] if len(named) == 1 else self.described.called(span.cut(hidden))
                if meant is not None:
                    edge = match.start() == 0 or not hidden[match.end() :].strip(" .\"'”*_")
                    removable = Span(start=match.start(), end=match.end()) if edge else None
                    return Credit(span=span, families=(), removable=removable, source_id=meant)
        return None

    def of_cell(self, cell: Span) -> StatedAttribution | None:
        """What the cell of a column of sources credits."""
        hidden = masked(cell.cut(self.answer))
        whole = Credit(span=Span(start=0, end=len(hidden)), families=(), removable=None)
        meant = self.described.meant(hidden)
        known = credit_of_title(hidden, self.families)
        return self.stated(known or (whole if meant else None), cell.start, source_id=meant)

    def stated(
        self, credit: Credit | None, offset: int, *, source_id: str | None = None
    ) -> StatedAttribution | None:
        """A credit as the answer states it, its place counted from ``offset``.

        ``source_id`` is the source that is known to be meant, where the credit names none.
        """
        if credit is None:
            return None
        span = tidy(
            self.answer, Span(start=offset + credit.span.start, end=offset + credit.span.end)
        )
        family = credit.families[0] if len(credit.families) == 1 else None
        source_id, also = credit.source_id or source_id, tuple[str, ...]()
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
        elif source_id is None and may_be_described(
            span.cut(self.answer), removable=credit.removable is not None
        ):
            source_id = self.described.meant(span.cut(self.answer))
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

    def _of_mark(self, mark: Citation) -> str | None:
        """The source of a mark; of a number what its entry in the list of references describes."""
        number = re.fullmatch(r"\[(\d+)\]", mark.text)
        if mark.source_id is not None or number is None:
            return mark.source_id
        entry = self.entries.get(int(number[1]))
        if entry is None:
            return None
        named = self.named.meant(entry)
        return named[0] if len(named) == 1 else self.described.meant(entry)

    def cited(self, span: Span) -> StatedAttribution | None:
        """The citation marks on a claim, or right behind it, as its stated attribution."""
        marks = [mark for mark in self.trace.citations if _marks(self.answer, mark, span)]
        if not marks:
            return None
        ids = {meant for mark in marks if (meant := self._of_mark(mark)) is not None}
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


_MOST_SLOTS = 1_000  # characters of a sentence in which a credit stands apart
# What may credit by its place: a label, and what ends the sentence. Five more places ("(…)", "…, so the …")
# led 1 right credit of labelled answers by others to its source, and 8 statements that credit none to one.
_SLOTS = (
    re.compile(r"\A\W*(?P<who>[^:.!?;]{2,50}):[*_]*\s+(?=\S)"),
    re.compile(
        r"\s(?P<who>(?:at|in|from|on|per|under|within)\s(?:the|his|her|their|its|our|your|[\w.-]+['’]s)\s"
        r"[^,;:()]{2,40}?)[\s.\"'”*_]*\Z",
        re.IGNORECASE,
    ),
)
_MOST_HEAD = 120  # characters of a sentence in which its credit is named
_SPEAKS = re.compile(VERB, re.IGNORECASE)
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


def _marks(answer: str, mark: Citation, span: Span) -> bool:
    if mark.span.overlaps(span):
        return True
    if not 0 <= mark.span.start - span.end <= 24:
        return False
    between = answer[span.end : mark.span.start]
    return not re.sub(r"\[\^?\d+\]|[\s.,;()]", "", between)


def credited_from(answer: str, parts: Sequence[Span], own: StatedAttribution | None) -> int:
    """From where on a sentence's own credit counts.

    "She has asthma, and the trial showed that …": what opens a later part credits nothing before it, and
    what ends the last part ("…, and LDL was 162 (labs)") that part alone, unless a comma is before it.
    "…, and the guideline supports this" says it of all.
    """
    if own is None:
        return 0
    for part in parts[1:]:
        opens = part.start <= own.span.start < part.end
        if opens and not _WORD.search(_AND.sub("", answer[part.start : own.span.start])):
            return part.start if len(_WORD.findall(answer[own.span.end : part.end])) >= 2 else 0
    last = parts[-1] if parts else own.span
    ends = re.match(r"[)\]]?[\s.]*\Z", answer[own.span.end : last.end]) is not None
    apart = answer[: own.span.start].rstrip().endswith((",", ";", "\u2013", "\u2014"))
    return last.start if ends and not apart and own.span.start > last.start else 0


_WORD = re.compile(r"\w+")
_AND = re.compile(
    r"^\W*(?:and|but|while|whereas|so|yet|however|also|the|a|an|his|her|their|your)\b"
)


def goes_on(text: str) -> bool:
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


def without(span: Span, raw: str, removable: Span) -> Span:
    """The span without a credit at its edge, unless the credit holds a value of its own."""
    cut = removable.cut(raw)
    if any(value.kind != "name" for value in protected_values(cut)):
        return span
    if removable.start == 0:
        return Span(start=span.start + removable.end, end=span.end)
    if not raw[removable.end :].strip(" .\"'*_)"):
        return Span(start=span.start, end=span.start + removable.start)
    return span


_LEAD = re.compile(r"\s*(?:according to|as per|per)\b", re.IGNORECASE)
_FINITE = frozenset(("VBZ", "VBP", "VBD", "MD"))


def said_clause(sentence: str, credit: Span) -> int | None:
    """The start of the finite clause that a credit at the head of its sentence is of.

    None where something else follows: what "The chart shows a penicillin allergy" says is no clause,
    and without its first words it would say nothing. Where the grammar is read wrongly the sentence
    stays whole.
    """
    if sentence[: credit.start].strip() or not sentence[credit.end :].strip():
        return None
    words = parsed(re.sub(r"[_*`#|]", " ", sentence))  # as the cuts ask for it
    grammar, every = Grammar(words, sentence), frozenset(range(len(words)))
    for subject in words:
        verb = words[subject.head]
        if subject.role not in SUBJECTS or subject.start < credit.end:
            continue
        if not _is_finite(verb, grammar):
            continue
        first = min(grammar.below(subject.index, every))
        if first > 0 and _is_credited(verb, words[first - 1], grammar, credit):
            return words[first].start
    return None


def _is_finite(verb: Word, grammar: Grammar) -> bool:
    below = (grammar.words[child] for child in grammar.children[verb.index])
    return verb.tag in _FINITE or any(
        word.role in ("aux", "auxpass") and word.tag in _FINITE for word in below
    )


def _is_credited(verb: Word, before: Word, grammar: Grammar, credit: Span) -> bool:
    """Whether a clause is what the credited source says, or heads the sentence behind a bare lead.

    ``before`` is the word in front of the clause.
    """
    if verb.role == "ROOT":
        lead = _LEAD.match(grammar.text, credit.start) is not None
        return lead and credit.start <= before.start < credit.end
    saying = grammar.words[verb.head]
    if before.role == "mark" and before.text.lower() == "that" and before.index > 0:
        before = grammar.words[before.index - 1]
    return (
        verb.role == "ccomp"
        and saying.role == "ROOT"
        and saying.index == before.index
        and any(
            grammar.words[child].role in SUBJECTS
            and credit.start <= grammar.words[child].start < credit.end
            for child in grammar.children[saying.index]
        )
    )
