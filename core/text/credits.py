"""Where a text credits a source: the stretch, its family, and the one tool that it names (III.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Span
from core.text.families import Families, Mention

_LEAD = re.compile(
    r"\s*(?:according to|as per|per|based on|from|in|on|within|using|via|looking at|going by|"
    r"judging (?:by|from)|"
    r"as (?:noted|documented|recorded|reported|described|stated|listed|shown|seen) (?:in|by|on)|"
    r"(?:data|evidence|results|findings|information|records?) (?:from|in|out of)|under (?:the |current )|"
    r"(?:going|looking|reading|searching) (?:back )?(?:through|over|across|into)|we know from|"
    r"(?:drawn|pulled|taken|cited|quoted|sourced|copied|adapted|extracted|read) "
    r"(?:directly |straight )?(?:from|off|out of)|"
    r"(?:this|that|it|these|(?:this|that|the) [a-z]+) (?:all )?(?:comes?|came|is|was|were|are)"
    r"(?: [a-z]+){0,2} (?:from|in|by|on)|"
    r"(?:i|we) (?:\w+ )?(?:pulled|took|got|read|found|saw|see|drew|have|know)"
    r"(?: (?:this|that|it|these))? (?:from|in|on)|"
    r"what (?:we|i|you) (?:know|see|have|learn|read|can see|can tell) (?:from|in|of)|"
    r"(?:a )?(?:quick )?(?:review|search|check|analysis|look|reading) (?:of|in|at|through)|"
    r"(?:i|we) (?:\w+ )?(?:pulled up|brought up|went through|scrolled through|skimmed)|"
    r"(?:i|we) (?:\w+ )?(?:found|came across)(?= (?:an?|one|two|three|several|some) .{0,60}\b(?:that|which|"
    r"showing|reporting|saying|suggesting|finding)\b)|"
    r"(?:i|we)(?:\s?['’]?ve|\s?['’]?m)? (?:\w+ )?(?:reviewed|checked|searched|consulted|"
    r"looked (?:at|in|through|up)|opened|retrieved|reviewing|looking at)|on|"
    r"reviewing|searching|checking|reading|consulting|following|citing|quoting)\b",
    re.IGNORECASE,
)
_COORDINATED = 12  # characters between "the chart and the labs"
_LONGEST = 2_000  # characters of a sentence that are searched; a longer one is a dump
# "In the nursing notes we see that": a lead that runs on without a comma.
_WE_SEE = re.compile(
    r"[^,:.;]{0,60}?\s(?:and\s)?(?:we|i|you|one|there|it|and)\s(?:can\s)?(?:also )?(?:see|sees|"
    r"read|reads|find|finds|learn|learns|know|saw|found|is|was|says|said|states|reads)(?:\sthat)?\s",
    re.IGNORECASE,
)
_TO_THE_COMMA = re.compile(r"(?:[^,:.;]|(?<=\d)[,.](?=\d)){0,60}[,:]\s+")
_ENDS_LEAD = re.compile(r",|\b(?:that|rather than|brought up|instead of)\b", re.IGNORECASE)
_LEAD_WORDS = 7  # "In" opens much that is no credit; a credit follows it closely
_IN_LEAD = re.compile(r"\s*(?:in|on|within|from|using|via)\b", re.IGNORECASE)
# "Reading the leaflet first is a good habit" credits nothing; "Reading the leaflet, we see" does.
_DOING_LEAD = re.compile(r"\s*(?:reviewing|searching|checking|reading|consulting)\b", re.IGNORECASE)
# "If one opens the record, …", "Scroll through her encounters and methotrexate turns up"
_OPENS = re.compile(
    r"\s*(?:if (?:one|you|we) |anyone |whoever |once (?:you|we|one) )?(?:opens?(?: up)?|pulls? up|"
    r"scroll(?:s|ing)? through|leaf(?:s|ing)? through|flip(?:s|ping)? through|"
    r"look(?:s|ing)? (?:at|in|up|through|over)|consults?|unfolds?|browses? through|"
    r"read(?:s|ing)? through|pages? through)\b",
    re.IGNORECASE,
)
_THEN_SEES = re.compile(
    r"[^.;:]{0,60}?(?:,|\sand|\swould|\swill)\s(?:[\w'’.-]+\s){0,7}?(?:finds?|sees?|meets?|discovers?|"
    r"reads?|learns?|turns?(?:\sout)?(?:\sup)?|appears?|emerges?|stands?|is there|comes? up|figures?|"
    r"is staring)\b",
    re.IGNORECASE,
)
# "**Chart:** penicillin allergy."
_LABEL = re.compile(
    r"[\s>*_#\u2022-]*(?P<label>[^:.!?;\n]{2,50})(?:\*\*|__)?:(?:\*\*|__)?\s+(?=\S)"
)
_FIELD_NAME = re.compile(  # "Authors: Liu et al." is a field of a list, and credits nothing
    r"\b(?:authors?|journals?|publications?|researchers?|investigators?|scientists?|radiologists?)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;:\u2013\u2014](?:\s(?:and|but|so|while|whereas|however|yet|or|since|because|although))?\s"
)
_VERB = (
    r"(?:shows?|showed|lists?|listed|documents?|documented|indicates?|indicated|notes?|noted|"
    r"records?|recorded|reports?|reported|states?|stated|says|said|finds?|found|warns?|warned|"
    r"confirms?|confirmed|suggests?|suggested|describes?|described|demonstrates?|demonstrated|"
    r"reveals?|revealed|gives|gave|includes?|included|contains?|contained|mentions?|mentioned|"
    r"recommends?|recommended|advises?|advised|concludes?|concluded|identifies|identified|has|"
    r"returned|supports?|provides?|tells?(?:\sus)?|told us|mention|say|state|suggest|describe|confirm|"
    r"reveal|indicate|show|list|find|include|contain|warn|recommend|advise|demonstrate|observes?|"
    r"observed|names?|carries|carried|puts it|has it|holds?|held|(?:position|view|advice)\sis(?=\sthat\b)|"
    r"puts?|shown|seen|details?|detailed|ranks?|ranked|rates?|rated|argues?|argued|estimates?|"
    r"estimated|links?|linked|"
    r"restricts?|restricted|cites?|cited|claims?|claimed|endorses?|endorsed|urges?|urged|"
    r"explains?|explained|"
    r"specifies|specified|specify|outlines?|outlined|reads?|flags?|flagged|marks?|marked|"
    r"reflects?|reflected|"
    r"establishes|established|establish|proves?|proved|proven|highlights?|highlighted|"
    r"illustrates?|implies|imply|"
    r"cautions?|cautioned|lays out|laid out|sets out|spells out|points? (?:to|out)|pointed (?:to|out)|"
    r"(?:makes?|made)(?:\sit)? (?:clear|plain)|give|writes?|wrote|written|saw|sees|charted|"
    r"picked up|picks up|turned up|"
    r"turns up|detected|detects?|measured|measures|logs|logged|classifies|classified|calls for|"
    r"quotes?|quoted|attributes?|attributed|associates?|associated|tracks|tracked|summari[sz]es?|"
    r"summari[sz]ed|came back|comes back|come back|came out|speaks? of|spoke of|casts? doubt|"
    r"(?:comes|came) down|grew|yielded|caps|capped|agrees?|agreed|hints? at|hinted at|has tied|tied|"
    r"ties|produced|brought up|brings up|"
    r"favou?rs?|favou?red|places|placed|supports|said|it said|"
    r"backs(?: this)?(?: up)?|backed|back|asserts?|asserted|maintains?|declares?|declared|"
    r"discourages?|discouraged|pegs?|pegged|stages|staged|grades|graded|have it|hold|put|"
    r"agree|argue|estimate|report|conclude|note|link|warns?|call for|favou?r|credits?|credited|"
    r"attests? to|attested to|bears? witness to|contradicts?|contradicted|tells? of|gives away|"
    r"reads? that|speak of|points? at|traced?|traces)"
)
_BEHIND = re.compile(
    r"(?!\s(?:committee|bias|department|board|bureau|fees?)\b)(?:['’]s)?(?:,\s[^,;:.]{1,40},|"
    r"\s[\u2013\u2014-]\s[^\u2013\u2014]{1,40}[\u2013\u2014-](?=\s))?"
    r"(?:(?:\s(?:that|which))?\s(?:i|we|you)\s(?:just\s)?(?:found|read|came across|saw|retrieved|"
    r"looked (?:at|up)|pulled(?:\sup)?|opened|cited)|\s(?:that|which)\s(?:comes?|came|goes|"
    r"go)(?:\s[\w'’-]+){1,4}?)?"
    r"(?:\s(?:published|available|done|conducted|printed|accompanying(?:\s[\w-]+){1,3}?)"
    r"(?:\s(?:so far|to date|recently|last year|this year))?)?"
    r"(?:(?:,?\s(?:printed|published|conducted|done|dated|taken|written|made|performed|retrieved|"
    r"cited|included|reviewed|found|returned))?"
    r"\s(?:from|of|by|on|in|at|for|with|among)(?:\s(?!(?:he|she|they|we|i|you|it|that|which|who)\b)"
    r"[\w.'’%/-]+){1,6}?,?){0,2}?"
    r"(?:\s(?:\([^()]{0,40}\)|(?!(?:is|are|was|were|be|been|being|to|not|who|which|or|and|"
    r"that|will|he|she|they|we|i|you|it)\b)"
    r"[\w-]+)){0,3}?\s(?P<verb>" + _VERB + r")\b"
    r"(?!\sbeen\b|\s(?:above|below)\b)(?P<that>(?:\s(?:the fact|it|us|me))?\s+that\b)?",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:\b(?:is|are|was|were|been|being|not|as)\s(?:[a-z]+ly\s|first\s)?(?:documented|"
    r"recorded|listed|noted|reported|described|published|indexed|stated|charted|"
    r"mentioned|flagged|logged|entered|outlined|specified|cited|written|found|shown|advised|"
    r"recommended|suggested)\s(?:[\w'’-]+\s){1,10}?"
    r"(?:in|on|within)|"
    r"\b(?:is|was|were|are) the (?:conclusion|finding|result|verdict|message|upshot|view|"
    r"advice|position)s? of|"
    r"\b(?:recommendation|statement|finding|warning) in|"
    r"\bthere(?:['’]s|\sis|\sare|\swas|\swere)\s(?:[\w'’-]+\s){0,3}?(?:data|evidence|mention|record|"
    r"documentation|notes?|lines?|entry|entries|support|word|sign|trace)\s(?:[\w'’-]+\s){0,4}?"
    r"(?:in|from|on|within)|[,;(\u2013\u2014-]\s?see(?:\salso)?|"
    r"according to|\bper|as per|\bsources?:|\bsource is|\bvia|(?:documented|recorded|listed|noted|"
    r"found|reported|described|shown|published|indexed|stated|charted|mentioned|confirmed|verified|"
    r"supported|available|retrieved|seen|obtained|taken|recommended|advised|suggested|outlined|"
    r"specified|cited|quoted|drawn|pulled|sourced|extracted|copied|derived|read|learned|learnt|known|"
    r"established|demonstrated|summari[sz]ed|given|written|charted|logged|entered|noted down|"
    r"backed(?: up)?|"
    r"corroborated|borne out|flagged|highlighted|explained|discussed|presented|posted|printed|captured|"
    r"reflected|(?:laid|set|spelled|spelt) out)\s(?:directly\s)?(?:in|on|by|from|within)|"
    r"(?:clear|evident|apparent|plain|obvious|visible|known|taken straight|straight)\s(?:from|in)|"
    r"\b(?:comes?|came)\s(?:\w+\s)?from|\bcourtesy of|\bciting|\bquoting|\bas(?:\scan be)?\sseen (?:in|on))"
    r"\s+(?:the|his|her|their|this|that|a|an|our|your|its|one|two|several|many|some)?\s*"
    r"(?:[\w'’./-]+\s){0,4}\Z",
    re.IGNORECASE,
)
# "(source: PubMed, PMID 123)", not "(Wikipedia, user manuals)"; the mention itself reads \0 here.
_BRACKETED = re.compile(
    r"\s*(?:[^()]{1,60}[;,]\s(?:all |both |each |as )?(?=(?:from|per|according to)\s)|"
    r"(?-i:[A-Z])[\w.'’& -]{1,60},\s|(?-i:[A-Z])[\w-]+\s|at least in\s)?(?:(?:per|sources?:?|"
    r"from|according to|via|in|see|as|the|his|her|their|patient['’]s)\s+){0,3}\0"
    r"[^,;]{0,30}(?:[,;:]\s*(?:PMID|PMC|NCT|DOI|accessed|as of|p\.|\d|updated|dated|last|page|section|"
    r"table|retrieved|version|published|available)[^,;]{0,40})?",
    re.IGNORECASE,
)
# "…, the medical record states", "…, as the EHR documents" at the end of a sentence.
_STATES_BEFORE = re.compile(
    r"(?P<cut>\s*[,\u2013\u2014-]\s*)(?P<said>(?:so\s|if\s|(?:that|this)(?:['’]s|"
    r"\sis)\swhat\s|or so\s)?(?:as\s)?"
    r"(?:(?:the|his|her|their|a|an|this|that|its|one|some|most|several|recent|\w+['’]s)\s)?(?:[\w'’.-]+\s){0,3})\Z",
    re.IGNORECASE,
)
_STATES_BEHIND = re.compile(
    r"(?:\s(?:update|review|analysis|report|study|paper|article|entry|page|group|authors|note|"
    r"statement|team|record|system))?"
    r"(?:\s(?:from|of|by|on|in|at|for|with)(?:\s[\w.'’%/-]+){1,5}?)?\s(?:also\s|has\s|have\s|had\s)?"
    r"(?:" + _VERB + r"|record|report|document|note|puts?|put|(?:is|are)\s(?:right|correct|to be "
    r"believed|anything to go by)|(?:has|have)\sit(?:\sright)?)(?:\s(?:it|this|so|us|me))?"
    r"(?:[\s.;\"'”’)*_]*\Z|,\s)",
    re.IGNORECASE,
)
# "…, says the GP letter."
_SAYS_BEFORE = re.compile(
    r"(?P<cut>\s*[,\u2013\u2014-][\"”’]?\s*)(?P<said>(?:so\s)?(?:says?|said|reports?|notes?|"
    r"states?|writes?|reads?|"
    r"finds?|shows?|argues?|claims?|explains?|suggests?|wrote|reported|noted|found|showed)\s"
    r"(?:(?:the|his|her|their|a|an|this|that|one|its)\s)?(?:[\w'’.-]+\s){0,3})\Z",
    re.IGNORECASE,
)
_ENDS_AFTER = re.compile(
    r"(?:\s(?:from|of|by|dated|in|on|at)\s[^,;:]{1,50}?)?[\s.;\"'”’)*_]*\Z", re.IGNORECASE
)
# "… is what the guideline calls for."
_WHAT_BEFORE = re.compile(
    r"\b(?:is|are|was|were|['’]s)\s(?:exactly\s|just\s)?what\s(?:(?:the|his|her|their|your|a|an)\s)?"
    r"(?:[\w'’.-]+\s){0,3}\Z",
    re.IGNORECASE,
)
_SAYS_BEHIND = re.compile(r"(?:\s(?:[\w-]+\s){0,2}?)(?:" + _VERB + r")\b", re.IGNORECASE)
# "The creatinine was 1.4 on the most recent lab panel." Trials and guidelines are also things that
# one is in; only documents about one patient are credited so.
_HELD_AT_THE_END = frozenset({"lab", "imaging", "patient_record"})
_ON_BEFORE = re.compile(
    r"\s(?P<said>(?:on|per|by|from) (?:the|his|her|their|this|that|a|an)\s(?:[\w'’-]+\s){0,3})\Z",
    re.IGNORECASE,
)
_GENERIC = frozenset(
    "the a an of from in and patient patients patient's findings finding evidence data results "
    "result review summary information search details record records report reports section "
    "according to per based on source sources entries values what says shows his her their notes "
    "recent relevant published clinical supporting current available key "
    "overview analysis highlights contain contains contained report reports studies found shows "
    "neurologist's cardiologist's physician's doctor's clinic's it on file".split()
)


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
    text: str, families: Families, tools: Sequence[tuple[str, str | None]] = ()
) -> Credit | None:
    """The credit of a sentence, or None; ``tools`` are (folded name, source_id if only one has it)."""
    text = text[:_LONGEST]
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
    found = [(mention, _frame(text, mention)) for mention in mentions]
    framed = [(mention, frame) for mention, frame in found if frame is not None]
    if not framed:
        return None
    # A lead credits all that follows, whatever the rest of the sentence is about.
    leads = [cut.end for _, (_, cut) in framed if cut is not None and cut.start == 0]
    opening = _LEAD.match(text)
    if leads:
        framed = [(m, frame) for m, frame in framed if m.span.start < min(leads)]
    elif opening is not None and framed[0][1][0].start == opening.start():
        reach = framed[0][0].span.end + _COORDINATED
        framed = [(m, frame) for m, frame in framed if m.span.start <= reach]
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


def _label(text: str, mentions: Sequence[Mention], families: Families) -> Credit | None:
    """The credit of a label before a statement: "**Chart:** penicillin allergy."."""
    label = _LABEL.match(text)
    if label is None or not any(m.span.end <= label.end("label") for m in mentions):
        return None
    title = credit_of_title(label.group("label"), families)
    if title is None or _FIELD_NAME.search(label.group("label")):
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
    others = [word for word in re.findall(r"[\w'’]+", rest.casefold()) if word not in _GENERIC]
    framed = _LEAD.match(text) is not None and len(others) <= 6
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


def _frame(text: str, mention: Mention) -> tuple[Span, Span | None] | None:
    """(what credits, what can be left out) when the mention is used as a credit."""
    start, end = mention.span.start, mention.span.end
    lead = _LEAD.match(text)
    reach = _IN_LEAD.match(text) is None or len(text[:start].split()) <= _LEAD_WORDS
    if (
        lead is not None
        and reach
        and lead.end() <= start
        and not _ENDS_LEAD.search(text[lead.end() : start][:-1])
    ):
        comma = _TO_THE_COMMA.match(text, end)
        weak = _IN_LEAD.match(text) is not None or _DOING_LEAD.match(text) is not None
        sees = _WE_SEE.match(text, end)
        if sees is not None:
            return Span(start=lead.start(), end=end), Span(start=0, end=sees.end())
        if comma is not None:
            first = len(text) - len(text.lstrip())
            return Span(start=first, end=end), Span(start=0, end=comma.end())
        if not weak:
            return Span(start=lead.start(), end=end), None
    opens = _OPENS.match(text)
    if opens is not None and opens.end() <= start and _THEN_SEES.match(text, end):
        return Span(start=opens.start(), end=end), None
    if mention.paraphrase:
        return mention.span, _that_clause(text, mention)
    for opening, closing in ("()", "[]", "\u2013\u2013", "\u2014\u2014"):
        bracket = text.rfind(opening, max(0, start - 40), start), text.find(closing, end, end + 60)
        if -1 not in bracket and closing not in text[bracket[0] : start]:
            inside = text[bracket[0] + 1 : bracket[1]]
            outside = Span(start=len(text[: bracket[0]].rstrip()), end=bracket[1] + 1)
            if _BRACKETED.fullmatch(inside.replace(text[start:end], "\0", 1)):
                return Span(start=bracket[0] + 1, end=bracket[1]), outside
    states = _STATES_BEHIND.match(text, end)
    behind_comma = _STATES_BEFORE.search(text[max(0, start - 60) : start])
    if states is not None and behind_comma is not None:
        offset = max(0, start - 60)
        stop = len(text[: states.end()].rstrip(" .;\"'”’)*_"))
        return (
            Span(start=offset + behind_comma.start("said"), end=stop),
            Span(start=offset + behind_comma.start("cut"), end=stop),
        )
    says = _SAYS_BEFORE.search(text[max(0, start - 60) : start])
    if says is not None and _ENDS_AFTER.match(text, end):
        offset = max(0, start - 60)
        cut_from = offset + says.start("cut")
        return Span(start=offset + says.start("said"), end=end), Span(start=cut_from, end=end)
    what = _WHAT_BEFORE.search(text[max(0, start - 60) : start])
    if what is not None and _SAYS_BEHIND.match(text, end):
        return Span(start=max(0, start - 60) + what.start(), end=end), None
    before = _BEFORE.search(text[max(0, start - 80) : start])
    if before is not None:
        first = max(0, start - 80) + before.start()
        tail = re.compile(r"[\s.\"']*\Z").match(text, end)
        comma_before = re.search(r",?\s*\Z", text[:first])
        opens = re.match(r"(?i)according|per|as per|via", text[first:])
        cut: Span | None = None
        if tail is not None and opens is not None and comma_before is not None:
            cut = Span(start=comma_before.start(), end=end)
        return Span(start=first, end=end), cut
    if mention.family_id in _HELD_AT_THE_END and re.match(r"[\s.;\"'”’)*_]*\Z", text[end:]):
        held = _ON_BEFORE.search(text[max(0, start - 60) : start])
        if held is not None:
            first = max(0, start - 60) + held.start("said")
            return Span(start=first, end=end), Span(start=first - 1, end=end)
    behind = _BEHIND.match(text, end)
    clause = _CLAUSE.split(text[:start])[-1]
    if behind is not None and len(clause.split()) <= 6 and not _finite_before(clause):
        begins = start - len(clause.lstrip())
        whole = behind.group("that") and not text[:begins].strip()
        rest = Span(start=0, end=behind.end() + 1) if whole else None
        return Span(start=begins, end=behind.end("verb")), rest
    return None


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
