"""Which sentence of the evidence says nearest what a claim says, and which words stand for which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.distortions.reading import Reading, Word, cue_entries, read_sentence
from core.evidence.words import stem
from core.records import Source, Span, Trace
from core.text.sentences import sentence_spans
from core.text.tokens import PLAIN_WORD, rarity

_LONGEST = 1_200  # characters of a sentence that is compared; longer ones are lists or dumps
_PROSE_FROM = 3  # sentences of a field's value
_MOST_SENTENCES = 6_000  # of one trace
_SAID_ELSEWHERE = 0.3  # the weight of a claim's word that the source holds in another sentence
# JSON, tables, "key: value" lines and lines of several fields.
_RECORD = re.compile(
    r"[{}\[\]]|\"\s*:|^\s*[\w .-]{1,40}:\s*\S{0,60}$|\\n|^[-|*\s]*\||<t[rdh]\b|"
    r"^[-*\s]*[\w.\[\]/ ]{1,40}: .{0,200}, [\w ]{2,30}: |^[\w\[\]]+[._][\w.\[\]]+: "
)
# A field of a record, and what no prose holds: a field with several sentences is prose for all that.
_FIELD = re.compile(r"\s*[\w .\[\]/-]{1,60}: (?=\S)")
_DUMP = re.compile(r"[{}]|\"\s*:|\\n|<t[rdh]\b|\w: .{0,80}, [\w ]{2,30}: ")
# What a paper set out to do, to measure, or leaves to others is no finding that could be told wrongly.
_METHOD = re.compile(
    r"(?:OBJECTIVES?|AIMS?|PURPOSE|(?:MAIN )?OUTCOMES? MEASURES?)\b|"
    r"(?:CONCLUSIONS?:? )?(?:Further|Future|Larger|More) [^.,]{0,60}\b(?:trials?|stud(?:y|ies)|research)\b"
)
_WORDS = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a source's prose; ``span`` is in the source's text.

    ``in_field`` is set in the value of a record's field: an abstract behind "results.abstract:".
    """

    source_id: str
    span: Span
    text: str
    stems: frozenset[str]
    in_field: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """The sentences of a trace, how rare their words are, and the populations each source names."""

    sentences: tuple[Sentence, ...]
    rare: Mapping[str, float]
    stems_of: Mapping[str, frozenset[str]]
    groups_of: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """A claim beside a sentence: which claim word stands for which of the sentence's, by place."""

    claim: Reading
    premise: Reading
    pairs: Mapping[int, int]
    coverage: float
    held: frozenset[int]

    def clauses(self) -> frozenset[int]:
        """The clauses of the premise that hold what the claim speaks of."""
        counts: dict[int, int] = {}
        for place in self.pairs.values():
            clause = self.premise.clauses[place]
            counts[clause] = counts.get(clause, 0) + 1
        most = max(counts.values(), default=0)
        return frozenset(c for c, n in counts.items() if n >= max(2, most // 2) or n == most)


def read_prose(trace: Trace) -> Prose:
    """The prose of every source that may be evidence; records and dumps have checks of their own."""
    sentences = [s for source in trace.sources if source.is_evidence for s in _sentences(source)]
    return prose_of(sentences[:_MOST_SENTENCES])


def prose_of(sentences: Sequence[Sentence]) -> Prose:
    """Sentences as one body of evidence."""
    stems_of: dict[str, frozenset[str]] = {}
    groups: dict[str, set[str]] = {}
    by_source: dict[str, list[str]] = {}
    for one in sentences:
        stems_of[one.source_id] = stems_of.get(one.source_id, frozenset()) | one.stems
        by_source.setdefault(one.source_id, []).append(one.text)
    named = [entry for entry in cue_entries() if entry.feature == "population"]
    for source_id, texts in by_source.items():
        whole = "\n".join(texts)
        groups[source_id] = {entry.group for entry in named if entry.pattern.search(whole)}
    return Prose(
        sentences=tuple(sentences),
        rare=rarity(one.stems for one in sentences),
        stems_of=stems_of,
        groups_of={source_id: frozenset(found) for source_id, found in groups.items()},
    )


def _sentences(source: Source) -> Iterator[Sentence]:
    at = 0
    for line in source.text.splitlines(keepends=True):
        start, at = at, at + len(line)
        if len(_WORDS.findall(line[:2_000])) < 4:
            continue
        spans, in_field = sentence_spans(line), False
        if _RECORD.search(line[:400]):
            field = _FIELD.match(line)
            if field is None or len(spans) < _PROSE_FROM or _DUMP.search(line, field.end(), 400):
                continue
            start, line, in_field = start + field.end(), line[field.end() :], True
            spans = sentence_spans(line)
        for span in spans:
            text = line[span.start : span.end]
            if _METHOD.match(text):
                continue
            if len(text) <= _LONGEST and len(_WORDS.findall(text)) >= 3:
                yield Sentence(
                    source_id=source.source_id,
                    span=Span(start=start + span.start, end=start + span.end),
                    text=text,
                    stems=frozenset(stem(word) for word in PLAIN_WORD.findall(text)),
                    in_field=in_field,
                )


def nearest(claim: Reading, prose: Prose, most: int = 4) -> list[tuple[Sentence, Alignment]]:
    """The sentences that hold most of what the claim speaks of, the best first."""
    wanted = {word.stem for word in claim.topic}
    heads = {each[:5] for each in wanted}
    scored = []
    for place, sentence in enumerate(prose.sentences):
        shared = wanted & sentence.stems
        if not shared and not heads & {each[:5] for each in sentence.stems}:
            continue
        rough = sum(prose.rare.get(each, 1.0) for each in sorted(shared))
        scored.append((-rough, place, sentence))
    scored.sort(key=lambda each: each[:2])
    aligned = [
        (sentence, align(claim, read_sentence(sentence.text), prose, sentence.source_id))
        for _, _, sentence in scored[: 3 * most]
    ]
    return sorted(aligned, key=lambda each: -each[1].coverage)[:most]


def align(claim: Reading, premise: Reading, prose: Prose, source_id: str) -> Alignment:
    """Each content word of the claim with the premise's word of the same stem or the same root.

    A word that the source says in another sentence, whose trial or which paper, weighs less.
    """
    rare, elsewhere = prose.rare, prose.stems_of.get(source_id, frozenset())
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for word in (w for w in claim.words if w.content):
        place = _counterpart(word, premise, taken)
        if place is not None:
            pairs[word.place] = place
            taken.add(place)
    heaviest = max(rare.values(), default=1.0) or 1.0
    weights = {word.place: rare.get(word.stem, heaviest) or 0.01 for word in claim.topic}
    for word in claim.topic:
        if word.place not in pairs and word.stem in elsewhere:
            weights[word.place] *= _SAID_ELSEWHERE
    whole = sum(weights.values())
    held = sum(weight for place, weight in weights.items() if place in pairs)
    return Alignment(
        claim=claim,
        premise=premise,
        pairs=pairs,
        coverage=held / whole if whole else 0.0,
        held=frozenset(pairs) & weights.keys(),
    )


def _counterpart(word: Word, premise: Reading, taken: set[int]) -> int | None:
    near: int | None = None
    for other in premise.words:
        if other.place in taken or not other.content:
            continue
        if other.stem == word.stem:
            return other.place
        if near is None and same_root(word.stem, other.stem):
            near = other.place
    return near


def same_root(one: str, other: str) -> bool:
    """Whether two stems are forms of one word: prescrib and prescription, diagnos and diagnosis."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    shorter = min(len(one), len(other))
    return shared >= 4 and shared >= shorter - 1 and max(len(one), len(other)) - shared <= 5
