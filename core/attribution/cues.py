"""Where a text credits a source: the stretch, its family, and the one tool that it names (III.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from core.attribution import cue_words as words
from core.attribution.classifier import load_weights
from core.attribution.families import Families, Mention
from core.records import Span

# A name in such a place is a credit but where it most likely is not: "should be recorded in the chart".
DOUBTED = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """A credit found in a text; spans are in that text.

    ``span`` is the stretch that credits. ``removable`` is what can be left out so that the rest
    still reads: a lead ("According to the chart, ") or a tail (" (per the chart)"). ``families``
    holds one family, or none or several where the words are ambiguous.
    """

    span: Span
    families: tuple[str, ...]
    removable: Span | None
    source_id: str | None = None
    tool: str | None = None


def find_credit(
    text: str,
    families: Families,
    tools: Sequence[tuple[str, str | None]] = (),
    *,
    known: Collection[str] | None = None,
) -> Credit | None:
    """The credit of a sentence, or None; ``tools`` are (folded name, source_id if only one has it).

    ``known`` are the families that a credit may be of where only the words around a name tell of
    one; None: any. "The file" of an agent that read no chart is no patient's file.
    """
    text = text[: words.LONGEST]
    mentions = sorted(families.mentions(text), key=lambda mention: mention.span.start)
    named = _tool_named(text, tools)
    if named is not None:
        span, source_id = named
        tool = span.cut(text).casefold()
        mentions.append(Mention(family_id="", span=span, paraphrase=False))
    mentions = [
        mention
        for mention, behind in zip(mentions, [*mentions[1:], None], strict=False)
        if behind is None or not _modifies(text, mention, behind)
    ]
    label = _label(text, mentions, families)
    if label is not None:
        return label
    found = [(mention, frame_of(text, mention)) for mention in mentions]
    framed = [(mention, frame) for mention, frame in found if frame is not None]
    if not framed:
        return _read(text, mentions, families, known)
    # "Her chart leaves little doubt that PMID 1 is a trial": what opens the sentence credits it.
    # A credit that is said outright outweighs one that is guessed.
    if all(m.paraphrase and not words.OUTRIGHT.match(text, f[0].start) for m, f in framed):
        first_framed = min(frame[0].start for _, frame in framed)
        before = [m for m in mentions if m.span.end <= first_framed]
        leading = _read(text, before, families, known)
        if leading is not None:
            return leading
    # A lead credits all that follows, whatever the rest of the sentence is about.
    leads = [cut.end for _, (_, cut) in framed if cut is not None and cut.start == 0]
    opening = words.LEAD.match(text)
    if leads:
        framed = [(m, frame) for m, frame in framed if m.span.start < min(leads)]
    elif opening is not None and framed[0][1][0].start == opening.start():
        reach = framed[0][0].span.end + words.COORDINATED
        framed = [(m, frame) for m, frame in framed if m.span.start <= reach]
    else:
        framed = _of_its_clause(text, framed)
    start = min(frame[0].start for _, frame in framed)
    first = min(framed, key=lambda pair: (pair[1][0].start, not pair[1][1]))
    end = max(
        first[1][0].end, *(m.span.end for m, f in framed if m.span.start < first[1][0].end + 1)
    )
    inside = [mention for mention, _ in framed if mention.family_id]
    distinct = tuple(dict.fromkeys(mention.family_id for mention in inside))
    removable = next((frame[1] for _, frame in framed if frame[1] is not None), None)
    return Credit(
        span=Span(start=start, end=end),
        families=_merged(distinct, families),
        removable=removable,
        source_id=source_id if named is not None else None,
        tool=tool if named is not None else None,
    )


def _of_its_clause(
    text: str, framed: Sequence[tuple[Mention, Frame]]
) -> list[tuple[Mention, Frame]]:
    """Without what a credit that opens its clause speaks of: "Guidelines say that PMID 1 is a trial"."""
    first, (stretch, _) = min(framed, key=lambda pair: pair[1][0].start)
    if text[: stretch.start].strip():
        return list(framed)
    return [
        (mention, frame)
        for mention, frame in framed
        if mention.span.start <= first.span.end + words.COORDINATED
        or words.CLAUSE.search(text[first.span.end : mention.span.start])
    ]


def _read(
    text: str, mentions: Sequence[Mention], families: Families, known: Collection[str] | None
) -> Credit | None:
    """The credit that no known way of crediting explains, where the words around a name tell of one."""
    names = [
        m
        for m in mentions
        if m.family_id
        and not m.paraphrase
        and _is_named(text, m.span)
        and (known is None or any(families.compatible(m.family_id, each) for each in known))
    ]
    weights = load_weights()
    likely = [(weights.probability(text, m.span), m) for m in names]
    best, name = max(likely, key=lambda pair: pair[0], default=(0.0, None))
    if name is None or best < weights.threshold:
        return None
    whose = words.WHOSE_BEFORE.search(text[: name.span.start])
    start = name.span.start if whose is None else whose.start()
    span = Span(start=start, end=name.span.end)
    return Credit(span=span, families=(name.family_id,), removable=None)


def _is_named(text: str, name: Span) -> bool:
    """Whether these words may mean one source: not "three papers", "missing laboratory data"."""
    said, before = name.cut(text), text[: name.start]
    if words.UNNAMED_BEFORE.search(before) or words.FIELD_NAME.fullmatch(said):
        return False
    if words.SOMEBODYS_WORKS.search(text, 0, name.end):
        return False
    own = said != said.lower() or re.search(r"[_.`/]", said) is not None
    return own or words.NAMED_BEFORE.search(before) is not None or words.THE.match(said) is not None


def _label(text: str, mentions: Sequence[Mention], families: Families) -> Credit | None:
    """The credit of a label before a statement: "**Chart:** penicillin allergy."."""
    label = words.LABEL.match(text)
    if label is None or not any(m.span.end <= label.end("label") for m in mentions):
        return None
    title = credit_of_title(label.group("label"), families)
    if title is None or words.FIELD_NAME.search(label.group("label")):
        return None
    span = Span(start=label.start("label"), end=label.end("label"))
    return Credit(span=span, families=title.families, removable=Span(start=0, end=label.end()))


def credit_of_title(text: str, families: Families) -> Credit | None:
    """The credit that a heading or an intro line gives to all under it: "From the chart:"."""
    mentions = list(families.mentions(text))
    named = [mention for mention in mentions if not mention.paraphrase]
    if not named:
        return None
    rest = text
    for mention in sorted(named, key=lambda mention: -mention.span.start):
        rest = rest[: mention.span.start] + " " + rest[mention.span.end :]
    others = [word for word in re.findall(r"[\w'’]+", rest.casefold()) if word not in words.GENERIC]
    framed = words.LEAD.match(text) is not None and len(others) <= 6
    if others and not framed:
        return None
    distinct = tuple(dict.fromkeys(mention.family_id for mention in named))
    span = Span(
        start=0 if framed else min(mention.span.start for mention in named),
        end=max(mention.span.end for mention in named),
    )
    return Credit(span=span, families=_merged(distinct, families), removable=None)


def _merged(distinct: tuple[str, ...], families: Families) -> tuple[str, ...]:
    """Families that stand for one another count as the first: "the chart and the labs"."""
    if distinct and all(families.compatible(distinct[0], other) for other in distinct[1:]):
        return distinct[:1]
    return distinct


Frame = tuple[Span, Span | None]  # (what credits, what can be left out)


def frame_of(text: str, mention: Mention) -> Frame | None:
    """How the mention is used as a credit; None when it is not."""
    ways = (way(text, mention) for way in _WAYS)
    return next((frame for frame in ways if frame is not None), None)


def _leads(text: str, mention: Mention) -> Frame | None:
    """ "According to the chart, he takes iron." """
    start, end = mention.span.start, mention.span.end
    lead = words.LEAD.match(text)
    if lead is None or lead.end() > start:
        return None
    weak = words.IN_LEAD.match(text) is not None
    if weak and len(text[:start].split()) > words.LEAD_WORDS:
        return None
    if words.ENDS_LEAD.search(text[lead.end() : start][:-1]):
        return None
    sees = words.WE_SEE.match(text, end)
    if sees is not None:
        return Span(start=lead.start(), end=end), Span(start=0, end=sees.end())
    comma = words.TO_THE_COMMA.match(text, end)
    if comma is not None:
        first = len(text) - len(text.lstrip())
        return Span(start=first, end=end), Span(start=0, end=comma.end())
    if weak or words.DOING_LEAD.match(text) is not None:
        return None
    return Span(start=lead.start(), end=end), None


def _is_opened(text: str, mention: Mention) -> Frame | None:
    """ "Scroll through her encounters and methotrexate turns up." """
    opens = words.OPENS.match(text)
    end = mention.span.end
    if opens is None or opens.end() > mention.span.start or not words.THEN_SEES.match(text, end):
        return None
    return Span(start=opens.start(), end=end), None


def _paraphrases(text: str, mention: Mention) -> Frame | None:
    return (mention.span, _that_clause(text, mention)) if mention.paraphrase else None


def _is_aside(text: str, mention: Mention) -> Frame | None:
    """ "He takes iron (per the chart)." """
    start, end = mention.span.start, mention.span.end
    for opening, closing in ("()", "[]", "\u2013\u2013", "\u2014\u2014"):
        first, last = (
            text.rfind(opening, max(0, start - 40), start),
            text.find(closing, end, end + 60),
        )
        if -1 in (first, last) or closing in text[first + 1 : start]:
            continue
        inside = text[first + 1 : last]
        if words.BRACKETED.fullmatch(inside.replace(text[start:end], "\0", 1)):
            return (
                Span(start=first + 1, end=last),
                Span(start=len(text[:first].rstrip()), end=last + 1),
            )
    return None


def _states_behind(text: str, mention: Mention) -> Frame | None:
    """ "He takes iron, the chart states." """
    states = words.STATES_BEHIND.match(text, mention.span.end)
    before, offset = _near(text, mention, words.STATES_BEFORE)
    if states is None or before is None:
        return None
    stop = len(text[: states.end()].rstrip(" .;\"'”’)*_"))
    return (
        Span(start=offset + before.start("said"), end=stop),
        Span(start=offset + before.start("cut"), end=stop),
    )


def _says_before(text: str, mention: Mention) -> Frame | None:
    """ "He takes iron, says the GP letter." """
    says, offset = _near(text, mention, words.SAYS_BEFORE)
    end = mention.span.end
    if says is None or not words.ENDS_AFTER.match(text, end):
        return None
    return (
        Span(start=offset + says.start("said"), end=end),
        Span(start=offset + says.start("cut"), end=end),
    )


def _is_what_it_says(text: str, mention: Mention) -> Frame | None:
    """ "A year of treatment is what the guideline calls for." """
    what, offset = _near(text, mention, words.WHAT_BEFORE)
    if what is None or not words.SAYS_BEHIND.match(text, mention.span.end):
        return None
    return Span(start=offset + what.start(), end=mention.span.end), None


def _is_found_in(text: str, mention: Mention) -> Frame | None:
    """ "The allergy is documented in the chart." """
    before, offset = _near(text, mention, words.BEFORE, reach=80)
    if before is None or load_weights().probability(text, mention.span) < DOUBTED:
        return None
    first, end = offset + before.start(), mention.span.end
    cut: Span | None = None
    ends = re.match(r"[\s.\"']*\Z", text[end:]) is not None
    if ends and re.match(r"(?i)according|per|as per|via", text[first:]):
        cut = Span(start=len(text[:first].rstrip().removesuffix(",")), end=end)
    return Span(start=first, end=end), cut


def _holds_at_the_end(text: str, mention: Mention) -> Frame | None:
    """ "Creatinine was 1.4 on the latest panel." """
    end = mention.span.end
    held, offset = _near(text, mention, words.ON_BEFORE)
    if (
        held is None
        or mention.family_id not in words.HELD_AT_THE_END
        or not re.match(r"[\s.;\"'”’)*_]*\Z", text[end:])
    ):
        return None
    first = offset + held.start("said")
    return Span(start=first, end=end), Span(start=first - 1, end=end)


def _says_behind(text: str, mention: Mention) -> Frame | None:
    """ "The chart lists an allergy", in whichever part of the sentence."""
    start = mention.span.start
    behind = words.BEHIND.match(text, mention.span.end)
    clause = words.CLAUSE.split(text[:start])[-1]
    if behind is None or len(clause.split()) > 6 or _finite_before(clause):
        return None
    begins = start - len(clause.lstrip())
    whole = behind.group("that") and not text[:begins].strip()
    rest = Span(start=0, end=behind.end() + 1) if whole else None
    return Span(start=begins, end=behind.end("verb")), rest


_WAYS: tuple[Callable[[str, Mention], Frame | None], ...] = (
    _leads,
    _is_opened,
    _paraphrases,
    _is_aside,
    _states_behind,
    _says_before,
    _is_what_it_says,
    _is_found_in,
    _holds_at_the_end,
    _says_behind,
)


def _near(
    text: str, mention: Mention, pattern: re.Pattern[str], reach: int = 60
) -> tuple[re.Match[str] | None, int]:
    """What the pattern finds in the words before the mention, and where those words begin."""
    offset = max(0, mention.span.start - reach)
    return pattern.search(text[offset : mention.span.start]), offset


def _modifies(text: str, mention: Mention, behind: Mention) -> bool:
    """Whether a name only tells which one the next is: "the trial's ClinicalTrials.gov record"."""
    if mention.paraphrase or behind.paraphrase or mention.family_id == behind.family_id:
        return False
    between = text[mention.span.end : behind.span.start]
    return re.fullmatch(r"['’]s\s(?:[\w-]+\s){0,2}|\s", between) is not None


def _that_clause(text: str, mention: Mention) -> Span | None:
    if text[: mention.span.start].strip():
        return None
    that = re.compile(r"\s+that\s+").match(text, mention.span.end)
    if that is None and re.match(r"\s*(?:as|according|per|from|in)\b", text, re.IGNORECASE):
        that = re.compile(r"(?:\s(?:\w+\s){0,2}it|\s\w+)?[,:]\s+").match(text, mention.span.end)
    return Span(start=0, end=that.end()) if that is not None else None


def _finite_before(text: str) -> bool:
    return re.search(r"\b(?:is|are|was|were|has|have|had)\b", text) is not None


def _tool_named(
    text: str, tools: Sequence[tuple[str, str | None]]
) -> tuple[Span, str | None] | None:
    folded = text.casefold()
    for name, source_id in tools:
        at = folded.find(name)
        if (
            at >= 0
            and not folded[at - 1 : at].isalnum()
            and not folded[at + len(name) :][:1].isalnum()
        ):
            return Span(start=at, end=at + len(name)), source_id
    return None
