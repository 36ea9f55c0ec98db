"""What a stretch of an answer is: a factual claim, or something that claims nothing checkable (III.2).

Factual is the default: setting aside is the one way past every check. A stretch is set aside when
its opening belongs to a closed class (an offer, a courtesy, advice, a view) or the fitted model of
`remarks` knows it, and when nothing in it could be a fact: no concrete value, no clause about
anybody but the reader and the writer. What only introduces a statement ("Please note that …") is
taken off before it is judged.
"""

from __future__ import annotations

import re

from core.decomposition.clauses import has_finite_verb, may_assert, verb_forms
from core.decomposition.parsing import parsed
from core.decomposition.remarks import remark_kind, sounds_factual
from core.evidence.values import protected_values
from core.records import ClaimType

_REASONS = {
    ClaimType.META: "A remark about the answer itself or how it was made.",
    ClaimType.ADVICE: "Advice on what to do: it asserts no fact.",
    ClaimType.OPINION: "An opinion: it asserts no fact that a source could hold.",
    ClaimType.BOILERPLATE: "A general disclaimer: no source could support it.",
    ClaimType.QUESTION: "A question: it asserts nothing.",
}
_I = r"(?:i|we)"
_ADVERBS = r"(?:(?:\w+ly|also|always|still|now|just|then|not|strongly|instead) )*"
_LEAD_IN = (
    r"(?:(?:however|also|finally|additionally|in addition|overall|so|and|but|then|now|instead|"
    r"alternatively|otherwise|therefore|first|next|(?:to|for|based on|from|after|before|since|as|"
    r"with|while|although) [^,:;.!?]{0,120}),? )?"
)
# Closed classes: who speaks, in which mood; the verbs are those of offering, advising and thinking.
_OPENINGS: tuple[tuple[ClaimType, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(_LEAD_IN + pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            ClaimType.ADVICE,
            rf"(?:{_I}(?:[’']d| would)? {_ADVERBS}(?:recommend|suggest|advise|encourage|urge)\b"
            rf"|(?:you|one) {_ADVERBS}(?:should|(?:may|might|could) {_ADVERBS}(?:want|wish|like|"
            r"consider|prefer|need)\b)"
            r"|(?:it|that|this)(?:[’']s| is| would be| might be| may be| could be) "
            rf"{_ADVERBS}(?:advisable|advised|recommended|prudent|wise|sensible|best|safest|worth|"
            r"worthwhile|(?:a )?good idea|important|essential|crucial|helpful|useful) "
            r"(?:to (?!note\b)|for you|that you|\w+ing\b)"
            r"|(?:please )?(?:(?:do not|don[’']t) (?!(?:have|need|see|know)\b)|be sure|make sure|"
            r"remember to|try to)\b"
            rf"|(?:please )?{_ADVERBS}(?:consult|ask|talk to|speak (?:to|with)|check with|"
            r"follow up with|see|contact|seek) (?:with )?(?:your|a|an|the) [\w -]{0,40}"
            r"(?:doctor|physician|clinician|"
            r"professional|pharmacist|specialist|team|nurse|practitioner|advis[oe]r|lawyer)\b)",
        ),
        (
            ClaimType.META,
            r"(?:(?:please )?(?:let (?:me|us) know|feel free|don[’']t hesitate|tell me|ask me|"
            r"say so)\b"
            r"|let(?: me| us|[’']s) |here(?:[’']s| is| are) (?!where\b|why\b|when\b|that\b)"
            r"|below (?:is|are) "
            rf"|{_I}(?:[’']ll| will|[’']d| would| could|[’']m going to) (?!(?:have|say|not)\b)"
            rf"|{_I} can {_ADVERBS}(?!(?:see|confirm|tell|say|find|report|verify|only)\b)\w+"
            r"|(?:i |we )?(?:really )?hope (?:this|that|it|these)\b"
            r"|(?:i |we )?(?:would be |[’']d be )?(?:happy|glad) to\b"
            r"|(?:(?:i|we) )?(?:sincerely )?apologi[sz]e (?:for|about)\b|sorry (?:for|about)\b"
            r"|if you (?:can|could|have|need|want|would|wish|prefer|like)\b|if you[’']d\b"
            r"|have a (?:\w+ )?(?:day|trip|time|evening|weekend|stay)\b|enjoy (?:your|the)\b"
            r"|(?:safe travels|good luck)\b)",
        ),
        (
            ClaimType.BOILERPLATE,
            r"(?:(?:the )?(?:this|the above|these|it)(?: [\w-]+){0,2} (?:is|are|does|do|should|"
            r"may|might|can|was|has|must) "
            r".{0,40}\b(?:(?:medical|legal|financial|professional|investment) advice|substitute for|"
            r"(?:informational|information|educational) (?:purposes|use|only)|contain (?:errors|"
            r"mistakes)|(?:be )?(?:wrong|incomplete|inaccurate)|language model|assistant|by software|"
            r"(?:be |been )(?:checked|verified|reviewed)))"
            r"|(?:as|being) an? (?:[\w-]+ ){0,2}(?:assistant|model|ai|chatbot),? i\b"
            rf"|{_I} (?:cannot|can[’']t|do not|don[’']t) (?:give|offer|provide) "
            r"(?:\w+ )?(?:advice|recommendations?|diagnos[ei]s)\b"
            r"|no (?:responsibility|guarantee|liability|warranty) (?:is|can be)\b",
        ),
    )
)
_COURTESY = re.compile(
    r"(?:(?:perfect|excellent|great|sure|certainly|of course|absolutely|okay|ok|understood|thanks|"
    r"thank you|you[’']re welcome|wonderful|no problem|done|hello|hi|sorry|yes|alright|good "
    r"(?:morning|afternoon|evening)|(?:kind|best|warm) (?:regards|wishes))(?: (?:there|everyone|all|"
    r"so much|very much|question|for \w+ing|again))?|dear (?:[\w.]+ ?){1,3}"
    rf"|{_I} am unable to give a (?:verified )?answer from the sources that were consulted)",
    re.IGNORECASE,
)
_FRAME_WORDS = frozenset(
    "please do not don't forget it's it is i i'm we you your my me us one can could should would will "
    "may might must want need like be to also just only let allow afraid sorry happy glad pleased that "
    "this as a an the of in for and so however although but also worth important crucial essential "
    "good useful helpful vital necessary key interesting noteworthy aware sure certain clear certainly "
    "really strongly firmly quickly briefly simply again always never ever note noting noted know "
    "knowing known remember remind reminded reminder recall mention mentioning mentioned understand "
    "understanding keep bear mind believe think feel suspect guess assume assumed expect confirm "
    "confirmed assure rest assured say said saying tell emphasise emphasize stress point out add "
    "highlight recognise recognize realise realize consider considered see hope advised informed "
    "heard did have has been warning caution disclaimer important note: fyi information quick side fun "
    "fact here's what thing opinion view thought goes without reality truth first all finally lastly "
    "hi hello sure thanks okay ok perfect great find found reassuring concerning encouraging "
    "surprising worrying striking remarkable".split()
)
_INTERROGATIVE = re.compile(
    r"(?:(?:and|but|so|now|then|or|also|second|separately|[\w ]{1,30}[:,]) )?(?:what|which|who|whom|"
    r"whose|when|where|why|how|is|are|was|were|do|does|can|could|would|will|should|shall|may|has|"
    r"have|had|any|anything|did(?! you know)|want|need)\b(?! not\b|n[’']t\b)",
    re.IGNORECASE,
)
_TAG = re.compile(r",? (?:right|correct|true|no|yes|(?:is|are|was|does|do|did|has|have|wo|ca)n[’']t "
                  r"\w+)\W*\Z", re.IGNORECASE)  # fmt: skip
_OPEN_END = re.compile(
    r"\b(?:for|from|of|with|in|on|at|to|by|like|as|including|includes?|included|contains?|covers?|"
    r"are|is|was|were|has|have|that|across|into|such as|(?:the |these )?following(?: [\w-]+){0,3})\Z",
    re.IGNORECASE,
)
_CONNECTOR = re.compile(
    r"(?P<relative>,? \b(?:who|which|that)\s)|(?:\b(?:because|since|as|but|yet|and|so|while|although|"
    r"though|whereas|given that)|[;:,\u2013\u2014(])\s*(?:(?:and|but|yet|so|as|because|since) )?",
    re.IGNORECASE,
)
# What stands behind these is a clause, whether or not its verb is known to us.
_STRONG = re.compile(
    r"[;:]|(?:[,\u2013\u2014(]\s*)?\s*(?:because|since|but|although|though|whereas|given that)\b|"
    r",\s*(?:as|yet)\b",
    re.IGNORECASE,
)
_EXEMPT = frozenset(
    "i we you i'm i've i'll i'd you're you'll you'd we'll let please here feel if when whether what "
    "how".split()
)
# "and I have also saved a copy": what the writer did is a fact.
_DEED = re.compile(
    r"(?:I|we)(?:[’']ve| have) (?:(?:also|already|just|now) )*[a-z]+(?:ed|en|wn|nt|pt|ade|ound|one)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = frozenset("might may could can would will should helps help works suits".split())

_GENERIC_WORDS = frozenset(
    "a about above additional all an analysis and answer attempt attempts any assessment at "
    "available background based basic "
    "below brief bottom by comprehensive conclusion conclusions considerations context current data "
    "description detailed details discussion evidence executive explanation facts features final "
    "finding findings following for from general guidance here highlights i identified important in "
    "included includes including information insight insights interpretation introduction is it item "
    "items "
    "key limitations line list main major more my note notes notable of on options other our "
    "outcome outlook overall overview part point points quick recommendation recommendations "
    "recommended reference references relevant report response result results review search "
    "section significance significant some source sources specific specifically statement steps step "
    "summary takeaway takeaways that the their these things this tips to topic what with what's "
    "your you found accomplished created results: next action actions impact disclaimer caution warning "
    "practical useful benefits why how retrieved gathered contents content bottomline it's works "
    "answering direct short long full complete also verdict advice".split()
)
_LONGEST_ASIDE = 400  # characters; a longer "sentence" is a dump


def claim_type_of(text: str, *, credited: bool) -> tuple[ClaimType, str | None]:
    """What the text is, and in plain words why it is set aside (None for a factual claim).

    ``credited`` says that the answer names a source for it: what a source is named for is checked.
    """
    bare = text.strip(" \"'“”*_-–—•>")
    kind = _kind(bare, credited)
    return kind, _REASONS.get(kind)


def _kind(bare: str, credited: bool) -> ClaimType:
    if bare.endswith(("?", "？")):
        asked = _INTERROGATIVE.match(bare) and not _TAG.search(bare)
        return ClaimType.QUESTION if asked or bare.count(" ") < 3 else ClaimType.FACTUAL
    if _COURTESY.fullmatch(bare.strip(" .!,")):
        return ClaimType.META
    if bare.endswith((":", "：")):
        bare = bare.rstrip(":： ")
        if introduces(bare):
            return ClaimType.META
    if credited or _concrete(bare):
        return ClaimType.FACTUAL
    if _is_plain_request(bare):
        return ClaimType.ADVICE
    said = unframed(bare)
    if said != bare and not _opening(said) and (may_assert(said) or not _learned(said)):
        return ClaimType.FACTUAL
    if holds_fact(bare) or _behind_condition(bare):
        return ClaimType.FACTUAL
    return _opening(bare) or _learned(bare) or ClaimType.FACTUAL


def _is_plain_request(text: str) -> bool:
    """Whether "Please discuss any change with her physician" asks and leaves nothing told.

    Whoever is named besides the professional to turn to, and any verb of telling, may carry a fact
    ("Please discuss her penicillin allergy with her physician"): then it is checked.
    """
    if re.match(r"please [a-z]+ ", text, re.IGNORECASE) is None:
        return False
    rest = re.sub(_PROFESSIONAL, " ", text[len("please ") :], flags=re.IGNORECASE)
    told = re.search(_TELLS, rest, re.IGNORECASE) or re.search(r"(?<!\A)\b[A-Z]", rest)
    return told is None


_PROFESSIONAL = (
    r"\b(?:his|her|their|your|an?|the)(?: own| treating| primary| care){0,3} (?:doctors?|physicians?|"
    r"clinicians?|pharmacists?|specialists?|nurses?|providers?|teams?|gp|\w+ologists?)\b"
)
_TELLS = (
    r"\b(?:he|she|they|him|her|his|hers|their|them|it|its|is|are|was|were|has|have|had|does|did|that|"
    r"which|who|because|since|as|note|know|aware|mind|remember|understand|see)\b|\d"
)


def introduces(text: str) -> bool:
    """Whether a line that ends in a colon leaves its statement to what follows, or is a label."""
    opening = _opening(text)
    if _concrete(text):
        return False
    return (
        not (may_assert(text) or is_written_out(text))
        or _OPEN_END.search(text) is not None
        or opening is not None
    )


def is_written_out(text: str) -> bool:
    """Whether a line is set like a sentence and not like a title: a verb unknown to us may be in it."""
    words = re.findall(r"[^\W\d_]+", text)
    small = sum(len(word) > 3 and word.islower() for word in words[1:])
    return len(words) > 3 and small > 1 and 2 * small >= sum(len(word) > 3 for word in words[1:])


def unframed(text: str) -> str:
    """The statement that a frame introduces: "Please note that X" gives X; else the text itself."""
    while True:
        match = re.match(r"(?P<frame>[^.;!?]{0,90}?)(?:\bthat |[:,\u2013\u2014] +|(?<=believe )|"
                         r"(?<=think )|(?<=suspect )|(?<=mind )|(?<=know )|(?<=note ))"
                         r"(?=\S+ \S)", text, re.IGNORECASE)  # fmt: skip
        if match is None:
            return text
        words = re.findall(r"[\w’']+", match.group("frame").casefold().replace("’", "'"))
        if not words or not all(word in _FRAME_WORDS for word in words):
            return text
        text = text[match.end() :].strip()


def holds_fact(text: str) -> bool:
    """Whether a clause of the text is about anybody but the reader and the writer."""
    for cut in _CONNECTOR.finditer(text):
        behind = re.split(r"[;:,()\u2013\u2014]", text[cut.end() :], maxsplit=1)[0]
        words = re.findall(r"[\w’'-]+", behind.casefold().replace("’", "'"))
        if _DEED.match(behind):
            return True
        if not words or words[0] in _EXEMPT:
            continue
        if cut.group("relative"):
            plain_noun = "," not in cut.group("relative") and words[0] in _HYPOTHETICAL
            if not plain_noun and has_finite_verb(" ".join(words[:6])):
                return True
            # "My impression is that rye bread …": what opens with no verb has a subject of its own.
            clause = cut.group("relative").strip() == "that" and not has_finite_verb(words[0])
            if "," in cut.group("relative") or (clause and not plain_noun and len(words) > 2):
                return True
        elif may_assert(" ".join(words[:12])) or (
            len(words) > 2 and _STRONG.match(cut.group()) and not _labels(text[: cut.end()])
        ):
            return True
    return False


def _labels(before: str) -> bool:
    """Whether "Warm-up:" only labels what follows; "I'd suggest caution:" does more."""
    return before.rstrip().endswith(":") and len(before.split()) < 6 and _opening(before) is None


def _behind_condition(text: str) -> bool:
    """Whether the clause behind "If you want my view," is about neither the reader nor the writer."""
    match = re.match(
        r"if you[^,.;:]{1,80},\s+(?:then )?(?P<main>[\w’'-]+)(?: [\w’'-]+){3,}", text, re.I
    )
    return match is not None and match.group("main").casefold().replace("’", "'") not in (
        *_EXEMPT, "just", "tell", "say", "send", "ask", "share", "feel", "don't", "do", "try", "check",
    )  # fmt: skip


def _opening(text: str) -> ClaimType | None:
    """The closed class that opens the text; none where advice sounds like a fact all the same ("I recommend
    the back table, the only one with a lamp")."""
    for kind, pattern in _OPENINGS:
        if pattern.match(text) is not None:
            return None if kind is ClaimType.ADVICE and sounds_factual(text) else kind
    return None


def _learned(text: str) -> ClaimType | None:
    """What the fitted model knows, unless a verb that is no imperative makes the text a sentence."""
    kind = remark_kind(text)
    if kind is ClaimType.ADVICE and (_noun_and_verb(text) or _third_person(text)):
        return None
    return kind


def _third_person(text: str) -> bool:
    """ "Token check: Reads the token": who does it stands in the label, or before; nobody is advised."""
    words = parsed(_LABEL.sub("", text))
    return bool(words) and words[0].tag == "VBZ"


def _noun_and_verb(text: str) -> bool:
    """ "Plan members pay": a noun and its verb behind the first word, which is then no imperative."""
    words = re.findall(r"[\w’'-]+", _LABEL.sub("", text).casefold())
    before = ""
    for place, word in enumerate(words[:9]):
        if word in (
            "if",
            "when",
            "that",
            "what",
            "how",
            "where",
            "until",
            "before",
            "after",
            "because",
        ):
            return False
        if (
            place >= 2
            and before.isalpha()
            and before not in _NO_NOUNS
            and not before.endswith("ly")
        ):
            finite = has_finite_verb(word)
            if finite or (before.endswith("s") and word in verb_forms()):
                return True
        before = word
    return False


_LABEL = re.compile(r"\A[^:.!?]{1,60}:\s+")
_NO_NOUNS = frozenset(
    "a an the to and or of in on at for with by from your my our his her its their this that these "
    "those no not if as into be is are was were i you we they he she it more most very any all "
    "please can could should will would may might must".split()
)


def aside_of_sentence(text: str) -> tuple[ClaimType, str] | None:
    """What a whole sentence is when all of it is set aside; None when it must be read on.

    Such a sentence is judged before it is split: half of it would read as a fact.
    """
    bare = text.strip(" \"'“”*_-–—•>.!")
    if len(bare) > _LONGEST_ASIDE or _concrete(bare):
        return None
    kind, reason = claim_type_of(text, credited=False)
    return None if kind is ClaimType.FACTUAL else (kind, reason or "")


def is_generic_title(title: str) -> bool:
    """Whether a heading names no subject: "Key Findings", "Summary of results", "Conclusion"."""
    words = re.findall(r"[^\W\d_]+(?:['’][a-z]+)?", title.casefold())
    numbered = any(character.isdigit() for character in title)
    return bool(words) and not numbered and all(word in _GENERIC_WORDS for word in words)


def _concrete(text: str) -> bool:
    return any(value.kind != "name" for value in protected_values(text))
