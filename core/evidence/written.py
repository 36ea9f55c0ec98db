"""What a document that the agent wrote is made of: its headings and items, each under what stands above.

"The Technical Architecture section of the report covers cryptography" says what the agent's own text
holds, and nothing of the world. That text stands in a call's arguments, and there the heading
"Cryptographic Security" under "Technical Architecture" shows it; a reader of single lines does not see
what a line stands under. Only what a document includes is told so: what it states of the world is
checked like anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.evidence.calls import argument_leaves
from core.evidence.claim_view import view_claim
from core.evidence.fact_index import FactIndex
from core.evidence.words import stems
from core.records import Check, Claim, FactPlace, Outcome, Source, SourceStatus

OUTLINE = "outline"  # the check that what the agent wrote includes what the claim says
LEAST_CHARACTERS = 200  # of an argument that is a text
ENOUGH = 0.75  # of the claim's words on the way down to one item
_MOST_CHARACTERS = 200_000
_MOST_ITEMS = 4_000
_STEP = " › "
_ITEM_WORDS = 14  # a longer line is a sentence, which says something
_LEAST_WORDS = 2
_PREFIX = 6  # letters that two forms of one word share: cryptography, cryptographic
_HEADING = re.compile(r"\s*(#{1,6})\s+(\S.*)|\s*<h([1-6])\b[^>]*>(.*?)</h\3>", re.IGNORECASE)
_BULLET = re.compile(
    r"\s*(?:[-*•+]|\d{1,2}[.)])\s+|\s*<(?:li|td|th|p|dt|dd|title|strong|b)\b[^>]*>", re.I
)
_TAG = re.compile(r"<[^>]{0,200}>")
_LINE = re.compile(r"\\n|\n|(?<=>)(?=<)")
_DOCUMENT = (
    r"(?:report|presentation|slides?|slide deck|deck|tutorial|template|mind ?map|digest|brief|briefing|"
    r"itinerary|newsletter|web ?page|document|summary|guide|walkthrough|spreadsheet|workbook)"
)
_PART = r"(?:sections?|branch(?:es)?|chapters?|parts?|headings?|slides?|pages?|appendix|conclusion)"
_HOLDS = r"includes?|covers?|contains?|has|have|features?|lists?|comes with"
_INCLUDES = re.compile(
    rf"\b{_DOCUMENT}\b[^.;]{{0,80}}?\b(?:{_HOLDS}|is (?:divided|organi[sz]ed|structured) into)\b"
    rf"|\b{_PART}\b[^.;]{{0,40}}\b(?:of|in) the {_DOCUMENT}\b[^.;]{{0,60}}?\b(?:{_HOLDS})\b"
    rf"|\bis (?:one of|among) the [^.;]{{2,60}}\b(?:of|in) the {_DOCUMENT}\b",
    re.IGNORECASE,
)
# The claim is about the document: it, or a part of it, is what the claim begins with.
_ABOUT_IT = re.compile(
    rf"^(?:(?:the|this|its|each|every)\s+)?(?:[^\s.;,]+\s+){{0,7}}?(?:{_DOCUMENT}|{_PART})\b"
    r"(?!\s+(?:is|was|are|were)\s+(?:saved|located|stored|at|in)\b)",
    re.IGNORECASE,
)
_MADE_IT = re.compile(
    r"\b(?:agent|assistant)\s+(?:has\s+|also\s+)?(?:created|generated|wrote|made|built|produced|prepared|"
    rf"drafted|compiled|converted|designed)\b[^.;]*\b{_DOCUMENT}\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:that|says?|states?|finds?|found|shows? that|concludes?|reports? that|according)\b", re.I
)
_STRUCTURE = stems(
    "report presentation slide slides deck tutorial template mindmap mind map digest brief briefing "
    "itinerary newsletter page webpage document summary guide walkthrough spreadsheet workbook section "
    "sections branch chapter part heading appendix includes include covers cover contains contain has "
    "features feature lists list comes divided organized structured one among several detailed "
    "comprehensive information content contents various agent created new complete full title titled "
    # What a document does with what it holds.
    "explains shows how gives emphasizes emphasises synthesizes analyses analyzes identifies describes "
    "discusses presents highlights focuses compares begins starts ends uses provides offers demonstrates "
    "generated wrote made built produced prepared drafted compiled converted designed"
)
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A heading or a short line of a written text, with the words of all that stands above it."""

    source_id: str
    text: str
    above: str
    words: frozenset[str]


def read_outlines(sources: Iterable[Source]) -> tuple[Item, ...]:
    """The items of the texts that calls wrote and that succeeded; bounded."""
    found: list[Item] = []
    for source in sources:
        if source.status not in (SourceStatus.OK, SourceStatus.TRUNCATED):
            continue
        stated = source.arguments or source.extra.get("arguments")
        for _, text in argument_leaves(stated if isinstance(stated, str) else None):
            if len(text) >= LEAST_CHARACTERS:
                found.extend(_items(source.source_id, text[:_MOST_CHARACTERS]))
            if len(found) >= _MOST_ITEMS:
                return _with_parts(found[:_MOST_ITEMS])
    return _with_parts(found)


def _with_parts(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items, and each part as one: its heading with the words of all that stands under it."""
    under: dict[tuple[str, str], frozenset[str]] = {}
    for item in items:
        steps = item.above.split(_STEP)
        for end in {len(steps), 2} if len(steps) > 1 else ():
            key = (item.source_id, _STEP.join(steps[:end]))
            under[key] = under.get(key, frozenset()) | item.words
    parts = []
    for (source_id, path), words in under.items():
        over, _, title = path.rpartition(_STEP)
        parts.append(Item(source_id=source_id, text=title, above=over, words=words))
    return (*items, *parts)


def _items(source_id: str, text: str) -> Iterator[Item]:
    above: list[tuple[int, str]] = []
    for line in _LINE.split(text):
        heading = _HEADING.match(line)
        said = _TAG.sub(" ", (heading[2] or heading[4]) if heading else _BULLET.sub("", line, 1))
        said = " ".join(said.split()).strip(" *_#:-")
        if heading:
            level = int(heading[3] or len(heading[1]))
            above = [each for each in above if each[0] < level]
        words = stems(said)
        if words and len(said.split()) <= _ITEM_WORDS:
            over = _STEP.join(title for _, title in above)
            yield Item(source_id=source_id, text=said, above=over, words=words | stems(over))
        if heading:
            above.append((level, said))


def check_outline(claim: Claim, items: Sequence[Item]) -> Check | None:
    """A check that a document which the agent wrote includes what the claim says; None for others."""
    text = claim.text
    about = _INCLUDES.search(text) or _ABOUT_IT.search(text) or _MADE_IT.search(text)
    if about is None or _SAYS.search(text) is not None:
        return None
    wanted = stems(claim.text) - _STRUCTURE
    if len(wanted) < _LEAST_WORDS:
        return None
    best = max(items, key=lambda item: _share(wanted, item.words), default=None)
    if best is None or _share(wanted, best.words) < ENOUGH:
        return None
    if not _numbers(text) <= _numbers(f"{best.above} {best.text}"):
        return None
    under = f" under “{best.above}”" if best.above else ""
    return Check(
        check=OUTLINE,
        outcome=Outcome.SUPPORTS,
        reason=f"The text that was written has “{best.text}”{under}.",
        facts=(FactPlace(source_id=best.source_id, span=None),),
        binding=1.0,
    )


def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.replace(",", "") for number in _NUMBER.findall(text))


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    begun = {word[:_PREFIX] for word in held if len(word) >= _PREFIX}
    found = sum(
        word in held or (len(word) >= _PREFIX and word[:_PREFIX] in begun) for word in wanted
    )
    return found / len(wanted)


SAVED = "saved"  # the check that a file was made as the claim says
_PATH = re.compile(
    r"(?<![\w/])(?:[\w.~-]*/)*[\w.~-]+\.[A-Za-z][A-Za-z0-9]{0,5}(?!\w)|(?<![\w/])(?:/[\w.~-]+)+/?"
)
_MADE = re.compile(
    r"\b(?:saved|created|wrote|written|generated|stored|located|placed|exported|produced|made|available)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|no|without|could|unable|fail\w*|attempt\w*|tried|only|all|every|each|both|before|after|"
    r"again|also|then)\b|n['’]t\b",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"write|save|create|export|generat|append|\bput\b|upload|convert|produce|render|store|plot|"
    r"to_(?:csv|excel|pdf|file)|savefig|\bopen\([^)]*[\"'][wa]b?[\"']",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:error|failed|failure|traceback|exception|denied|timed out|not found|cannot|could not|invalid|"
    r"no such)\b",
    re.IGNORECASE,
)
_FRONT = 300  # characters of an output that say how the call ended
_ASKED = 300  # of an argument that asks for something; a longer one is a text
_TITLE_LINES = 4
_TITLE = re.compile(r"<(?:h1|title)\b[^>]*>(.*?)<", re.IGNORECASE | re.DOTALL)
_MAKING = stems(
    "agent file files document report presentation page webpage web template tutorial mindmap chart "
    "image pdf markdown md excel powerpoint csv html png jpg docx xlsx pptx json txt word summary note "
    "table plot save saved create created write wrote written generate generated store stored locate "
    "located place placed export exported produce produced make made available complete full folder "
    "directory detailed comprehensive successfully titled named called format final new requested"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A call that succeeded in writing: its paths, and the words of what it was asked and wrote on top."""

    source_id: str
    paths: frozenset[str]
    words: frozenset[str]


def read_writings(sources: Iterable[Source]) -> tuple[Writing, ...]:
    """The calls of a trace that wrote a file and did not fail."""
    return tuple(_writings(sources))


def _writings(sources: Iterable[Source]) -> Iterator[Writing]:
    for source in sources:
        ended_well = source.status in (SourceStatus.OK, SourceStatus.TRUNCATED)
        if not ended_well or _FAILED.search(source.text[:_FRONT]) is not None:
            continue
        leaves = [leaf for _, leaf in argument_leaves(source.arguments)]
        asked = " ".join([source.tool_name, *(leaf for leaf in leaves if len(leaf) <= _ASKED)])
        texts = [leaf.replace("\\n", "\n") for leaf in leaves if len(leaf) > _ASKED]
        if not texts and _WRITES.search(asked) is None:
            continue
        if texts and not any(
            _WRITES.search(each) for each in (asked, *texts, source.text[:_FRONT])
        ):
            continue
        titles = [line for text in texts for line in text.splitlines()[:_TITLE_LINES]]
        titles += [title for text in texts for title in _TITLE.findall(text)[:2]]
        paths = frozenset(match.group() for leaf in leaves for match in _PATH.finditer(leaf))
        yield Writing(
            source_id=source.source_id,
            paths=paths,
            words=stems(f"{asked} {' '.join(titles)} {source.text[:_FRONT]}"),
        )


def check_saved(claim: Claim, writings: Iterable[Writing]) -> Check | None:
    """A check that a call wrote the file that the claim says was made; None for other claims."""
    text = claim.text
    paths = [match.group() for match in _PATH.finditer(text)]
    if len(paths) != 1 or _MADE.search(text) is None or _NOT.search(text) is not None:
        return None
    (path,) = paths
    left = stems(text.replace(path, " ")) - _MAKING
    for writing in writings:
        named = any(each == path or _is_within(path, each) for each in writing.paths)
        if named and left <= writing.words:
            return Check(
                check=SAVED,
                outcome=Outcome.SUPPORTS,
                reason=f"A call that succeeded wrote {path}.",
                facts=(FactPlace(source_id=writing.source_id, span=None),),
                binding=1.0,
            )
    return None


def _is_within(path: str, written: str) -> bool:
    """Whether a bare name or a folder of the claim is that of the path that was written."""
    return written.endswith(f"/{path}") or written.startswith(f"{path.rstrip('/')}/")


_LEAST_WRITTEN = 3  # words
ENOUGH_WRITTEN = 0.8  # of the claim's content words in one written text


def check_written(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """A check that supports a claim whose words one written argument holds; silent for most of them."""
    words = view_claim(claim.text, index.people).words
    if len(words) < _LEAST_WRITTEN or not index.written:
        return
    share, source_id = max(
        (len(words & held) / len(words), source_id) for source_id, held in index.written
    )
    if share < ENOUGH_WRITTEN / 2:
        return
    supports = share >= ENOUGH_WRITTEN
    yield Check(
        check="argument",
        outcome=Outcome.SUPPORTS if supports else Outcome.SILENT,
        reason=f"{share:.0%} of the claim's words stand in what was written to the call",
        facts=(FactPlace(source_id=source_id, span=None),) if supports else (),
        binding=share,
    )
