"""A sentence as the facts it coordinates, split only where each part can stand alone (III.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.evidence.quantities import within_amount
from core.records import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One fact of a sentence: where it is said, and the pieces whose text, joined, stands alone.

    All spans are in the sentence. The first pieces carry a subject (and verb) over from an earlier
    part: "Carla has asthma and takes albuterol" gives ("Carla", "takes albuterol"). ``follows`` is the
    part that the part was cut off, ``whole`` what both say with all between them.
    """

    span: Span
    pieces: tuple[Span, ...]
    follows: Part | None = None
    whole: tuple[Span, ...] = ()


_BE = "is|are|was|were|has|have|had|does|did|do"
_MODAL = "can|could|may|might|must|shall|should|will|would|cannot"
_FINITE_VERBS = (
    _BE
    + "|"
    + _MODAL
    + "|takes|takes|took|receives|received|uses|used|shows|showed|reduces|reduced|"
    "increases|increased|improves|improved|lowers|lowered|raises|raised|decreases|decreased|causes|"
    "caused|includes|included|contains|contained|lists|listed|reports|reported|presents|presented|"
    "denies|denied|underwent|undergoes|remains|remained|became|becomes|began|begins|started|starts|"
    "stopped|stops|continues|continued|developed|develops|experienced|experiences|lives|works|"
    "worked|smokes|drinks|weighs|weighed|measures|measured|found|finds|concluded|concludes|"
    "enrolled|enrols|enrolls|randomised|randomized|compared|compares|evaluated|evaluates|assessed|"
    "assesses|demonstrated|demonstrates|suggests|suggested|indicates|indicated|recommends|"
    "recommended|requires|required|needs|needed|allows|allowed|provides|provided|offers|offered|"
    "costs|cost|runs|ran|leads|led|leaves|departs|arrives|arrived|supports|supported|gives|gave|"
    "makes|made|goes|went|comes|came|gets|got|says|said|states|stated|means|meant|lasts|lasted|"
    "affects|affected|prevents|prevented|treats|treated|inhibits|inhibited|blocks|blocked|binds|"
    "activates|activated|occurs|occurred|appears|appeared|seems|seemed|tends|tended|rose|rises|fell|"
    "falls|grew|grows|dropped|drops|declined|declines|peaked|peaks|reached|reaches|exceeded|"
    "exceeds|achieved|achieves|ranges|ranged|averaged|averages|totals|totalled|totaled|holds|held|"
    "offered|serves|served|covers|covered|features|featured|opened|opens|closed|closes|ended|ends|"
    "expires|expired|announced|announces|released|releases|published|publishes|launched|launches|"
    "introduced|introduces|won|wins|lost|loses|scored|scores|ranked|ranks|died|dies|visited|visits|"
    "attended|attends|tested|tests|reviewed|reviews|returned|returns|saved|created|generated|"
    "added|updated|cancelled|canceled|booked|changed|changes|moved|moves|sent|sends|paid|pays|"
    "earned|earns|owns|owned|belongs|belonged|consists|comprises|comprised|depends|depended|varies|"
    "varied|differs|differed|follows|followed|carries|carried|warns|warned|advises|advised|notes|"
    "noted|describes|described|documents|documented|records|recorded|reveals|revealed|confirms|"
    "confirmed|identifies|identified|lacks|lacked|failed|fails|tolerates|tolerated|responded|"
    "responds|discontinued|initiated|prescribed|administered|diagnosed|admitted|discharged|"
    "sank|sinks|sunk|drowned|froze|freezes|stole|steals|fled|flees|hid|hides|dug|swore|swears|tore|"
    "tears|threw|throws|grows|blew|blows|crashed|crashes|exploded|explodes|melted|melts|shrank|"
    "shrinks|slid|slides|split|splits|stuck|sticks|struck|strikes|swept|swam|taught|teaches|woke|"
    "bled|bleeds|bit|bites|caught|catches|fought|fights|forbids|forbade|forgot|forgave|hung|hangs|"
    "laid|lays|lent|lends|lit|lights|mistook|rode|rides|rang|sang|shook|shakes|shot|shoots|slew|"
    "orbits|exists|existed|contained|matters|mattered|counts|counted|earns|weakens|weakened|"
    "strengthens|strengthened|worsen|spoils|spoiled|sterilises|sterilizes|poisons|poisoned|infects|"
    "infected|transmits|transmitted|replaces|replaced|equals|equalled|weighs|tastes|tasted|smells|"
    "killed|kills|cured|cures|harms|harmed|broke|breaks|burned|burns|bought|buys|sold|sells|"
    "triggers|triggered|fails|expire|lies|lay|stands|stood|sits|sat|keeps|kept|brings|brought|feels|"
    "felt|thinks|thought|knows|knew|sees|saw|hears|heard|builds|built|spends|spent|drives|drove|"
    "flew|flies|writes|wrote|reads|speaks|spoke|eats|ate|drank|sleeps|slept|wears|wore|"
    "chose|chooses|hits|cuts|sets|puts|lets|hurts|shuts|spreads|costs|beats|bears|bore|"
    "collapsed|collapses|doubled|doubles|halved|tripled|returned|withdrew|withdrawn|refused|"
    "refuses|agreed|agrees|violates|violated|damages|damaged|destroys|destroyed|attacked|attacks|"
    "worsened|worsens|resolved|resolves|normalised|normalized|stabilised|stabilized|plays|played"
)
_FINITE = re.compile(
    rf"(?<![\w'’-])(?:(?:{_FINITE_VERBS})(?![\w-])|(?:{_BE}|{_MODAL}|ca|wo)n[’']t\b)", re.IGNORECASE
)
# "A 2021 trial found that": carried to every fact behind it.
_REPORT = re.compile(
    r"[^,;:.]{3,120}?\b(?:found|finds|showed|shows|reported|reports|states|stated|indicates|indicated|"
    r"demonstrated|demonstrates|concluded|concludes|confirms|confirmed|notes|noted|observed|documents|"
    r"reveals|revealed|warns|says|said)\s+that\s+",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(
    r"(?P<semi>;)\s+(?:and\s+|but\s+|however,?\s+)?"
    r"|(?P<comma>,)\s+(?P<word>and|but|while|whereas|yet)\s+(?:also\s+|then\s+)?"
    r"|\s+(?P<bare>and|but|whereas)\s+(?:also\s+|then\s+)?",
    re.IGNORECASE,
)
_SUBJECT_OPENING = re.compile(
    r"(?:he|she|it|they|there|this|that|these|those|the|a|an|his|her|its|their|no|both|all|each|"
    r"most|patients|participants|\d[\d,.%]*|[A-Z][\w-]*)\b"
)
_RELATIVE = re.compile(
    r"(?<![\w-])(?:which|who|whom|whose|that|where|whether|if|unless|because|when|although|though|"
    r"while)(?![\w-])",
    re.IGNORECASE,
)
# A condition or a doubt at the front may hold for everything behind it.
SCOPED = re.compile(
    r"\s*(?:if|unless|whether|when|although|though|while|because|since|given|despite|there (?:is|was|"
    r"are|were) (?:no|little|limited|insufficient)|it (?:is|was|seems|appears|remains) "
    r"(?:\w+ly )?(?:not|un\w+|im\w+|possible|likely|probable|that)|no |neither|either|not )\b",
    re.IGNORECASE,
)
NEGATIVE = re.compile(
    r"(?<![\w-])(?:no|not|never|none|neither|nor|without|denies|denied|lacks|lacked|negative|cannot|"
    r"absence|free of|unlikely|or|possible|possibly|suspected|probable|probably|likely)(?![\w-])|"
    r"n[’']t\b",
    re.IGNORECASE,
)
TOGETHER = re.compile(
    r"\b(?:between|both|combination|combined|together|respectively|ratio|versus|vs|either|each|"
    r"plus|sum|total|difference|as well as|among|compared|comparing|interaction)\b",
    re.IGNORECASE,
)
_LIST_VERB = re.compile(
    r"(?<![\w'’-])(?:takes|is (?:currently )?taking|is (?:currently )?on|receives|received|has|had|"
    r"includes?|included|(?:was|were|is|has been) (?:prescribed|given|started on|diagnosed with)|"
    r"uses|presents with|presented with|reports|reported|lists?|contains|"
    r"(?:medications|conditions|problems|diagnoses|allergies|drugs|comorbidities|symptoms|effects|"
    r"events|treatments|options|findings)\s+(?:are|were))(?![\w-])"
    r"(?:\s+(?:the following|a history of|a diagnosis of|active))?",
    re.IGNORECASE,
)
_CANNOT_STAND = re.compile(
    r"(?:in|on|at|for|with|by|from|of|to|since|during|after|before|including|which|who|that|as|but|"
    r"also|then|such|diagnosed|started|taken|prescribed|given|due|followed|especially|mainly|"
    r"resulting|leading|making|showing|where|when|while|although|all|each|both|none|[a-z]+ly)\b",
    re.IGNORECASE,
)
_ADJECTIVE = re.compile(
    r"(?:\w+(?:ic|al|ive|ous|ar|ary|ible|able)|left|right|upper|lower|mild|moderate|severe|acute|"
    r"chronic|new|old|high|low|daily|weekly|white|red|black|fast|slow|good|bad|big|small|\d+)\Z",
    re.IGNORECASE,
)
_GAPPED = re.compile(
    r"\s(?P<prep>by|to|from|at|"
    r"of)\s[^\s]*\d[^,;]*?(?P<cut>,?\s+and\s+)(?P<noun>[^,;\d]{3,80}?)\s(?P=prep)\s"
    r"[^\s]*\d",
    re.IGNORECASE,
)
# "leaves at 10:55 and lands at JFK at 13:35": a bare word in -s with a phrase of its own may be a verb.
MAYBE_VERB = re.compile(r"[a-z]+s\s(?:at|in|on|to|into|from|with|by|for)\s")
_NO_SUBJECT = frozenset("the a an of in with for to and or by from on at also successfully".split())
LONGEST_SPLIT = 2_000  # characters; longer "sentences" are tables or dumps and are kept whole


def split_facts(sentence: str) -> tuple[Part, ...]:
    """The parts of a sentence; one part, the whole, where splitting could change what is said."""
    whole = Span(start=0, end=len(sentence))
    if len(sentence) > LONGEST_SPLIT:
        return (Part(span=whole, pieces=(whole,)),)
    hidden = hide_nested(sentence)
    report = _REPORT.match(hidden)
    if report is None or NEGATIVE.search(report.group()):
        return tuple(_facts(hidden, whole))
    behind = _facts(hidden, Span(start=report.end(), end=len(sentence)))
    carried = Span(start=0, end=report.end())
    first = Part(
        span=Span(start=0, end=behind[0].span.end),
        pieces=(carried, *behind[0].pieces),
    )
    return (first, *(Part(span=part.span, pieces=(carried, *part.pieces)) for part in behind[1:]))


def _facts(text: str, within: Span) -> list[Part]:
    return [
        fact
        for clause in _independent(text, within)
        for part in _predicates(text, clause)
        for fact in _objects(text, part)
    ]


def has_finite_verb(text: str) -> bool:
    """Whether a finite verb of our list stands in the text, so that it reads as a sentence."""
    return _FINITE.search(text) is not None


@lru_cache(maxsize=1)
def verb_forms() -> frozenset[str]:
    """The plain forms of our verbs: "pay" of "pays", as a plural noun takes them."""
    forms = {form[:-1] for form in _FINITE_VERBS.split("|") if re.fullmatch(r"[a-z]{3,}s", form)}
    return frozenset(forms | {"have", "do", "go", "carry", "deny", "vary"})


def reads_as_sentence(text: str) -> bool:
    """Whether a finite verb stands behind a subject: "Expires in 2028" needs one from its context."""
    hidden = hide_nested(text)
    for match in _FINITE.finditer(hidden):
        before = re.findall(r"[\w'’-]+", hidden[: match.start()])
        if match.group() == "May" or not before or before[-1].lower() in _NO_SUBJECT:
            continue
        return True
    return False


def may_assert(text: str) -> bool:
    """Whether the text could be a sentence: by our verbs, or as "members pay", "rain flooded the"."""
    if reads_as_sentence(text):
        return True
    if re.search(
        r"\w\s\w{3,}(?:ed|s)\s(?:the|a|an|his|her|its|their|our|your|no|every|all)\s\w", text, re.I
    ):
        return True
    words = re.findall(r"[\w'’-]+", text.casefold())
    for before, word in zip(words[1:], words[2:], strict=False):
        plural = before.endswith("s") and not before.endswith(("ss", "us", "is"))
        if plural and (word in verb_forms() or (word.endswith("ed") and len(word) > 4)):
            return True
    return False


def hide_nested(sentence: str) -> str:
    """Brackets and quotations blanked to the same length: nothing is cut inside them."""

    def blank(match: re.Match[str]) -> str:
        return match.group()[0] + "_" * (len(match.group()) - 2) + match.group()[-1]

    return re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|“[^”]*”", blank, sentence)


def _independent(text: str, within: Span) -> list[Span]:
    """Clauses with a subject and a verb of their own, cut at semicolons and conjunctions."""
    if re.search(r"\brespectively\b", text):
        return [within]
    clauses, start = [], within.start
    scoped = SCOPED.match(text, within.start) is not None
    for cut in _CONJUNCTION.finditer(text, within.start, within.end):
        left, right = text[start : cut.start()], text[cut.end() : within.end]
        if cut.group("semi") is None and scoped:
            continue
        if not has_finite_verb(left) or not opens_clause(right, bool(cut.group("semi"))):
            continue
        if cut.group("bare") and _RELATIVE.search(left) and not _pronoun(right):
            continue
        clauses.append(Span(start=start, end=cut.start()))
        start = cut.end()
    clauses.append(Span(start=start, end=within.end))
    return clauses


def _pronoun(text: str) -> bool:
    return re.match(r"(?:he|she|it|they)\b", text, re.IGNORECASE) is not None


def opens_clause(right: str, loose: bool) -> bool:
    """Whether a noun phrase and a finite verb follow, before any other cut."""
    if not loose and not _SUBJECT_OPENING.match(right):
        return False
    reach = re.split(r"[,;:]|\s(?:and|but|or|which|who|that)\s", right, maxsplit=1)[0]
    words = list(re.finditer(r"\S+", reach))
    for index, word in enumerate(words[:10]):
        if index and _FINITE.fullmatch(word.group().strip(".,")):
            # "the reported event" opens no clause: a verb follows its subject, not an article.
            before = words[index - 1].group().lower()
            return before not in ("the", "a", "an", "of", "in", "with", "to", "for", "and")
    return False


def _predicates(text: str, clause: Span) -> list[Part]:
    """The clause's coordinated predicates: "has A and takes B" with the subject carried over."""
    body = clause.cut(text)
    verb = main_verb(body)
    if verb is None or re.search(r"\brespectively\b", body):
        return [Part(span=clause, pieces=(clause,))]
    subject = Span(start=clause.start, end=clause.start + verb.start())
    if not subject.cut(text).strip() or len(subject.cut(text).split()) > 12 or SCOPED.match(body):
        return [Part(span=clause, pieces=(clause,))]
    cuts, start = [], clause.start
    for cut in re.finditer(r",?\s+(?:and|but)\s+(?:also\s+|then\s+|subsequently\s+)?", body):
        if cut.start() <= verb.end() or not _FINITE.match(body, cut.end()):
            continue
        if _RELATIVE.search(body, verb.end(), cut.start()) or _noun_after(body, cut.end()):
            continue
        cuts.append((start, clause.start + cut.start()))
        start = clause.start + cut.end()
    cuts.append((start, clause.end))
    parts = []
    for index, (first, last) in enumerate(cuts):
        span = Span(start=first, end=last)
        parts.append(Part(span=span, pieces=(span,) if index == 0 else (subject, span)))
    return parts


_NOUNS_TOO = frozenset(
    "reports visits tests needs costs changes notes records documents features scores measures "
    "uses".split()
)


def _noun_after(body: str, at: int) -> bool:
    """A past form that is a modifier or a noun here: "and reported events", "and does"."""
    verb = _FINITE.match(body, at)
    if verb is None:
        return True
    rest = body[verb.end() :].lstrip()
    return not rest or rest[0] in ".,;" or (
        verb.group().lower() in _NOUNS_TOO
        and not re.match(r"(?:a|an|the|no|that|his|her|its|their|\d|[a-z]+ing)\b", rest)
    )  # fmt: skip


def opens_with_verb(text: str) -> bool:
    """Whether the text opens with a finite verb, which lacks its subject."""
    return _FINITE.match(text) is not None


def main_verb(body: str) -> re.Match[str] | None:
    for match in _FINITE.finditer(body):
        before = body[: match.start()].split()
        if before and before[-1].lower() not in ("the", "a", "an", "of", "in", "with", "for", "to"):
            if _RELATIVE.search(body, 0, match.start()):
                return None
            if match.group().lower() in _NOUNS_TOO and _FINITE.match(body, match.end() + 1):
                continue  # "blood tests showed"
            return match
    return None


def _objects(text: str, part: Part) -> list[Part]:
    """Listed objects: "takes A 10 mg, B and C" as three parts with subject and verb carried."""
    body = part.span.cut(text)
    gapped = _gapped(text, part, body)
    if gapped:
        return gapped
    verb = _LIST_VERB.search(body)
    if verb is None or len(body[: verb.start()].split()) > 12:
        return [part]
    if NEGATIVE.search(body) or TOGETHER.search(body) or _RELATIVE.search(body):
        return [part]
    items, start = [], verb.end()
    for cut in re.finditer(r",?\s+and\s+|,\s+(?!\d{4}\b)", body[verb.end() :]):
        if not within_amount(body, verb.end() + cut.start()):
            items.append((start, verb.end() + cut.start()))
            start = verb.end() + cut.end()
    items.append((start, len(body)))
    if len(items) < 2 or not re.search(r"\s+and\s+", body[verb.end() :]):
        return [part]
    if not all(_stands(body[first:last]) for first, last in items) or _shares_head(body, items):
        return [part]
    offset = part.span.start
    carried = Span(start=offset, end=offset + verb.end())
    parts = []
    for index, (first, last) in enumerate(items):
        span = Span(start=offset + first, end=offset + last)
        if index == 0:
            span = Span(start=offset, end=offset + last)
            parts.append(Part(span=span, pieces=(*part.pieces[:-1], span)))
        else:
            parts.append(Part(span=span, pieces=(*part.pieces[:-1], carried, span)))
    return parts


def _stands(item: str) -> bool:
    words = item.split()
    if not words or len(words) > 9 or has_finite_verb(item):
        return False
    return not _CANNOT_STAND.match(item.strip()) and any(character.isalpha() for character in item)


def _shares_head(body: str, items: list[tuple[int, int]]) -> bool:
    """ "left and right knee pain", "type 1 and type 2 diabetes": the first lacks its noun."""
    texts = [body[first:last].strip(" .") for first, last in items]
    return any(_ADJECTIVE.match(text.split()[-1]) for text in texts[:-1]) and not _ADJECTIVE.match(
        texts[-1].split()[-1]
    )


def _gapped(text: str, part: Part, body: str) -> list[Part]:
    """ "reduced A by 30% and B by 13%": the verb is carried over to the second."""
    verb = main_verb(body) if len(part.pieces) == 1 else _FINITE.match(body)
    if verb is None or TOGETHER.search(body):
        return []
    gap = _GAPPED.search(body, verb.end())
    if gap is None or re.search(r"\bwith\b", body[verb.end() : gap.start()]):
        return []
    noun = gap.group("noun")
    if has_finite_verb(noun) or MAYBE_VERB.match(noun) or _RELATIVE.search(body):
        return []
    offset = part.span.start
    first = Span(start=offset, end=offset + gap.start("cut"))
    second = Span(start=offset + gap.end("cut"), end=part.span.end)
    carried = Span(start=offset, end=offset + verb.end())
    lead = part.pieces[:-1]
    return [
        Part(span=first, pieces=(*lead, first)),
        Part(span=second, pieces=(*lead, carried, second)),
    ]
