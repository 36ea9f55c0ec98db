"""Which one source of a trace a credit describes: "the discharge letter", "According to billing" (III.6).

No list of names can hold what tools return. A credit and the sources of its trace are compared by
their words instead: what the tool is called, what it was asked for, what its output begins with.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

from core.attribution.cues import Credit, frame_of
from core.attribution.families import OTHER, Families, Mention
from core.evidence.words import stem
from core.records import Source, Span

# Chosen on the development packets; docs/results.md has them on credits by another author.
LEAST = 0.8  # evidence below which nothing is meant
SHARE = 0.9  # of the best's evidence, from which on two sources are equally meant
_ASKED, _HEAD = 300, 250  # characters; a call that writes holds all that it wrote
_SIGNED = 4_000  # characters in which the author of an output is looked for
# "From: Jonas Halden", "\"author\": \"karlsson\"", "Reported by Dr. Imre Vas"
_AUTHOR = re.compile(
    r"(?i:\b(?:from|author|sender|reporter|reported by|written by|signed(?: by)?|created_by|dictated by))"
    r"[\"']?\s*:?\s*[\"']?((?:(?:Dr|Prof|Mrs?|Ms)\.?\s)?[A-Z][\w’'-]+(?:\s[A-Z][\w’'-]+){0,2}|(?<=[\"'])[a-z][\w.-]+)"
)
_FIELDS = ((1.0, 3), (0.6, 4), (0.6, 4))  # weight, shortest beginning that is a word
_ASKED_FIELDS = 2  # the first: the tool's name and what it was asked for
_FAMILY = 0.8
_UNNAMED = 0.05  # for each word of the tool's name that the credit leaves out
_BEGINNING = 0.8  # "lab" for "laboratory"
# What holds something says little of what it holds.
_CONTAINERS = frozenset(
    "data document documents entry export file files history info information list note notes page "
    "record records report reports result results search searches section sheet summary system "
    "table".split()
)
_UNTOLD = frozenset(
    "a according add adds advise advises also an and are as asks at based by call called calls by "
    "expects for found from gave give given gives he her herself him himself his i in is it its itself "
    "listed lists mention mentioned mentions my noted of on or our per raises read "
    "reads reported said same say says sets she show showed shown shows speaks state "
    "stated states still tell tells that the their they thinks this to under want wants warns was we "
    "were when who with writes wrote your these those which".split()
)
_OWN_WORK = re.compile(r"\b(?:I|my|we)\b", re.IGNORECASE)
# Whose it is: "October's invoice" tells invoices apart, "Ms. Brandsma's chest film" tells of no source.
_OWNER = re.compile(r"\W*(?:[\w.-]+\s){0,4}?[\w.-]+(?:['’]s|s['’])\s")
_WORD = re.compile(r"[\w./#-]*\w(?:['’]s\b)?")
_FINITE = re.compile(r"is|are|was|were|has|have|had|will|would|can|may|needs?", re.IGNORECASE)
_LONGEST, _PHRASE = 80, 5  # words of a sentence that are looked at, of a name
# "the", "his", "Dr. Okafor's", a lead, a bracket, or the head of a clause stand before a name.
_ONE_THING = re.compile(
    r"(?:\b(?:the|his|her|their|its|our|your|this|that|[\w.-]+['’]s?)\s|"
    r"(?:\A|[(\[:;,]\s?)(?:and\s|but\s|while\s|whereas\s|although\s|as\s|per\s|according to\s)?|"
    r"\b(?:per|according to)\s)\Z",
    re.IGNORECASE,
)
_MARK = re.compile(r"\[\^?\d+\]")
_IDENTIFIER = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]+")
_OPENS = re.compile(r"\W*(?:according to|as|by|for|from|in|of|on|per)\b", re.IGNORECASE)
_BEHIND = re.compile(r"\b(?:by|dated|for|from|of|on)\b", re.IGNORECASE)
# Verbs by which a source speaks. What it has, includes or costs may be said of anything.
SPEAKS = re.compile(
    r"(?:adds?|advis\w+|announc\w+|asks?|bears?|bill(?:s|ed)|calls?|confirm\w*|defin\w+|describ\w+|"
    r"document\w*|exclud\w+|expect\w*|promis\w+|provid\w+|rules? out|"
    r"explain\w*|giv\w+|gave|indicat\w+|list\w*|mark\w*|mention\w*|names?|not(?:es?|ed)|oblig\w+|"
    r"prescrib\w+|puts?|quot\w+|reads?|recommend\w*|record\w*|report\w*|requir\w+|sa(?:ys?|id)|"
    r"sets?|show\w*|specif\w+|stat(?:es?|ed)|suggest\w*|tells?|told|wants?|warn\w*|writ\w+|wrote)",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\W*(?:according to|as|based on|by|found|from|in|on|per|seen|taken|under|via|within)\b",
    re.IGNORECASE,
)
_INITIALS = re.compile(r"[A-Z]{2,5}")
_NEAR = 60  # characters behind a name in which its verb stands
_WHICH = re.compile(r"\s(?:from|of|by|dated|for)\s")
_SAID = re.compile(r"[\w.'’/-]+")
_SPEAKING = re.compile(r"(?:\s(?:itself|themselves|also|still|now|then|clearly))*\s(?P<verb>\w+)")


def is_own_work(credit: str) -> bool:
    """Whether a credit is of all that the agent did: "what I gathered"."""
    return _OWN_WORK.search(credit) is not None


class _Words:
    """Distinct words, to be asked for by stem and by beginning."""

    def __init__(self, words: Iterable[str]) -> None:
        self.plain = frozenset(words)
        self.stems = frozenset(map(stem, self.plain))
        self.ordered = sorted(self.plain)


class DescribedSources:
    """The words that describe each source of one trace, made when first asked for."""

    def __init__(
        self, sources: Sequence[Source], of_family: Mapping[str, str], families: Families
    ) -> None:
        self._sources = [source for source in sources if source.is_evidence]
        self._several = len(self._sources) > 1  # else there is nothing to tell apart
        self._of_family, self._families = of_family, families
        self._words: list[tuple[_Words, ...]] | None = None
        self._together: tuple[_Words, ...] | None = None
        self._found: dict[tuple[str, int], list[float]] = {}

    def meant(self, credit: str) -> str | None:
        """The id of the one source that a credit's words describe; None for none or several."""
        if not self._several or is_own_work(credit):
            return None
        evidence = self.evidence(credit)
        order = sorted(range(len(evidence)), key=lambda place: -evidence[place])
        best, second = evidence[order[0]], evidence[order[1]]
        if best < LEAST or second > SHARE * best:
            return None
        return self._sources[order[0]].source_id

    def called(self, credit: str) -> str | None:
        """The source that is meant, where a word of the credit is of its name or of what it was asked
        for, or names who wrote it; what its text begins with describes a thing as often as a source, and
        an identifier ("DSK-1203: …") a thing."""
        source_id = self.meant(credit)
        for word in _content(_IDENTIFIER.sub(" ", _MARK.sub(" ", credit))):
            held = self._held(word, 1 if word in _CONTAINERS else _ASKED_FIELDS)
            if source_id is not None and not word.isdigit() and held[self._place(source_id)]:
                return source_id
        return None

    def _place(self, source_id: str) -> int:
        return next(n for n, one in enumerate(self._sources) if one.source_id == source_id)

    def mentions(self, text: str) -> list[tuple[Span, str]]:
        """Where a sentence names a source of the trace by what it is called, and which one it is.

        A name ends in a word of the tool's name, of what it was asked for, or of the heading of what
        it gave, and begins the phrase it stands in: "the discharge letter", "ledger.yaml".
        """
        words = list(_WORD.finditer(text))[:_LONGEST] if self._several else []
        found: list[tuple[Span, str]] = []
        last = 0
        for place, word in enumerate(words):
            if word.start() < last or not self._may_end(text, words, place):
                continue
            first = self._begins(text, words, place)
            if first is None:
                continue
            span = Span(start=first, end=word.end())
            meant = self.meant(span.cut(text))
            if meant is not None:
                found.append((span, meant))
                last = word.end()
        return found

    def _may_end(self, text: str, words: Sequence[re.Match[str]], place: int) -> bool:
        """Whether a name may end here: in the last of the words in a row that describe a source."""
        if not self._tells(words[place].group()):
            return False
        if place + 1 == len(words):
            return True
        following = words[place + 1]
        goes_on = text[words[place].end() : following.start()] == " "
        return not (goes_on and self._tells(following.group()))

    def _tells(self, word: str) -> bool:
        return re.search(r"[^\W\d]", word) is not None and any(
            self._is_told(part, len(_FIELDS)) for part in _content(word) if not part.isdigit()
        )

    def _begins(self, text: str, words: Sequence[re.Match[str]], place: int) -> int | None:
        """Where the phrase that ends in a word begins; None where nothing says that it is one thing."""
        for back in range(place, max(-1, place - _PHRASE), -1):
            start = words[back].start()
            if _FINITE.fullmatch(words[back].group()):
                return None
            if back < place and text[words[back].end() : words[back + 1].start()] != " ":
                return None
            if _ONE_THING.search(text[:start]) or (
                back == place and re.search(r"[./_]\w", words[back].group())
            ):
                return start
        return None

    def evidence(self, credit: str) -> list[float]:
        """How well the credit describes each source that can be evidence, in trace order.

        A word counts by how few sources it describes; the noun that says what the thing is counts
        twice.
        """
        text = _MARK.sub(" ", credit)
        kinds = [self._of_family[source.source_id] for source in self._sources]
        mentions = list(self._families.mentions(text))
        named = {mention.family_id for mention in mentions} - {OTHER}
        # "Published research" says what kind is meant, where there are some of that kind.
        of_kind = {
            word
            for mention in mentions
            if any(self._families.compatible(mention.family_id, kind) for kind in kinds)
            for word in _content(mention.span.cut(text))
        }
        wanted = _content(text)
        found = [0.0] * len(self._sources)
        thing = self._thing(text, of_kind)
        if thing is None and not named:
            return found
        for word in wanted:
            weight = 2.0 if word == thing and word not in _CONTAINERS else 1.0
            self._add(found, self._held(word, self._fields(word, of_kind)), weight)
        said = _Words(wanted)
        for place, (called, *_) in enumerate(self._described()):
            if found[place]:
                found[place] -= _UNNAMED * sum(
                    not _meets(part, said, _FIELDS[0][1]) for part in called.plain
                )
        if named:
            self._add(found, [self._as_family(kind, named) for kind in kinds], _FAMILY)
        return found

    def _add(self, found: list[float], held: Sequence[float], weight: float) -> None:
        most = max(held, default=0.0)
        if not most:
            return
        rarity = math.log((len(held) + 1) * most / sum(held))
        for place, value in enumerate(held):
            found[place] += weight * rarity * value

    def _as_family(self, kind: str, named: set[str]) -> float:
        if kind in named:
            return 1.0
        return 0.7 if any(self._families.compatible(kind, one) for one in named) else 0.0

    def _thing(self, text: str, of_kind: Collection[str]) -> str | None:
        """What the credit says the source is: "invoice" of "October's invoice of the 3rd".

        A word that says only what something is held in must stand in a tool's name.
        """
        front = _BEHIND.split(_OPENS.sub("", text, count=1), maxsplit=1)[0]
        owner = _OWNER.match(front)
        last_first = _content(front[owner.end() :] if owner else front)[::-1]
        told = [word for word in last_first if self._is_told(word, self._fields(word, of_kind))]
        # What is held comes before what holds it, and both before whose it is.
        told.sort(key=lambda word: word in _CONTAINERS)
        whose = _content(owner.group())[::-1] if owner else []
        told += [word for word in whose if self._is_told(word, 1)]
        return next(iter(told), None)

    def _fields(self, word: str, of_kind: Collection[str]) -> int:
        """Of how many fields, the most telling first, a word may be."""
        if word in _CONTAINERS:
            return 1
        if word.isdigit():  # "the 2019 trial"
            return len(_FIELDS)
        return _ASKED_FIELDS if word in of_kind else len(_FIELDS)

    def _is_told(self, word: str, fields: int) -> bool:
        return any(self._held(word, fields))

    def _held(self, word: str, fields: int) -> list[float]:
        """How well the word describes each source, by the first so many of its fields."""
        if (word, fields) not in self._found:
            met = (
                [
                    [_meets(word, of_field, shortest) for of_field, (_, shortest) in pairs]
                    for described in self._described()
                    if (pairs := list(zip(described[:fields], _FIELDS, strict=False)))
                ]
                if self._is_anywhere(word, fields)
                else [[0.0]] * len(self._sources)
            )
            # "README" is no "read_file" where a source is called so.
            least = 1.0 if any(1.0 in of_source for of_source in met) else _BEGINNING
            self._found[word, fields] = [
                max(
                    weight * value if value >= least else 0.0
                    for value, (weight, _) in zip(of_source, _FIELDS, strict=False)
                )
                for of_source in met
            ]
        return self._found[word, fields]

    def _is_anywhere(self, word: str, fields: int) -> bool:
        """Whether any source is described so: most words of an answer describe none of hundreds."""
        if self._together is None:
            self._together = tuple(
                _Words(word for described in self._described() for word in described[field].plain)
                for field in range(len(_FIELDS))
            )
        return any(
            _meets(word, of_field, shortest)
            for of_field, (_, shortest) in zip(self._together[:fields], _FIELDS, strict=False)
        )

    def _described(self) -> list[tuple[_Words, ...]]:
        if self._words is None:
            self._words = [
                (
                    _Words(_parts(source.tool_name)),
                    _Words(
                        _parts(
                            f"{(source.arguments or '')[:_ASKED]} {source.uri or ''} "
                            f"{' '.join(_AUTHOR.findall(source.text[:_SIGNED]))}"
                        )
                    ),
                    _Words(_parts(source.text[:_HEAD])),
                )
                for source in self._sources
            ]
        return self._words


def _parts(text: str) -> list[str]:
    """The words of a text, of a name in snake or camel case as well."""
    parted = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+|\d+", parted)]


def _content(text: str) -> list[str]:
    words = _parts(re.sub(r"['’]s\b", "", text))
    return [
        word
        for word in dict.fromkeys(words)
        if word not in _UNTOLD and (len(word) > 1 or word.isdigit())
    ]


def _meets(word: str, words: _Words, shortest: int) -> float:
    """1 when the word is among the others, less when one of the two begins the other."""
    if stem(word) in words.stems:
        return 1.0
    if word.isdigit():
        return 0.0
    longer = bisect_left(words.ordered, word)
    if (
        len(word) >= shortest
        and longer < len(words.ordered)
        and words.ordered[longer].startswith(word)
    ) or any(word[:end] in words.plain for end in range(shortest, len(word))):
        return _BEGINNING
    return 0.0


# -- what of it is a credit ----------------------------------------------------------------------


def credit_of_description(text: str, named: Sequence[tuple[Span, str]]) -> Credit | None:
    """The first of the named sources that the sentence credits, in a way that is known to credit.

    ``named`` are (place, source_id); None when none of them is credited.
    """
    for span, source_id in named:
        mention = Mention(family_id="", span=span, paraphrase=False)
        frame = frame_of(text, mention)
        speaks = _speaks(text, span)
        stretch, removable = frame or (span, None)
        if not speaks and (
            frame is None
            or (removable is None and stretch.end > span.end)  # "The invoice has two lines"
            or _INITIALS.fullmatch(span.cut(text))  # "JPMorgan (JPM)"
        ):
            continue
        if removable is not None and is_own_work(removable.cut(text)):
            continue
        return Credit(span=stretch, families=(), removable=removable, source_id=source_id)
    return None


def may_be_described(said: str, *, removable: bool) -> bool:
    """Whether a credit that is known as one may be read by the words that describe a source.

    What stands apart credits, and so does what speaks; "The shopping list needs" is about the list.
    """
    words = _SAID.findall(said)
    if removable or not words or _FROM.match(said):
        return True
    return SPEAKS.fullmatch(words[-1]) is not None


def _speaks(text: str, span: Span) -> bool:
    """Whether the words behind a name are what it says: "the usage log of May shows"."""
    behind = text[span.end : span.end + _NEAR]
    told = _WHICH.match(behind)
    ends = [0] if told is None else [0, *(m.end() for m in _SAID.finditer(behind, told.end()))]
    verbs = (_SPEAKING.match(behind, end) for end in ends[:6])
    return any(verb is not None and SPEAKS.fullmatch(verb["verb"]) for verb in verbs)
