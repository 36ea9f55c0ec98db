"""How an answer credits a source in its own voice: finding the credit's words and changing them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.attribution.families import OTHER, Families
from core.text.tokens import words

# What a source family is called in running text. Singular, so that the verb behind can stay.
_NOUNS = {
    "patient_record": "the patient's chart",
    "literature": "published literature",
    "formulary": "the drug label",
    "guideline": "the clinical guideline",
    "registry": "the registry",
    "lab": "the laboratory report",
    "imaging": "the imaging report",
    "web": "the website",
    "database": "the database",
}
_BEFORE = re.compile(
    r"(?:\b(?:(?i:the|a|an|his|her|their|its|our|your|my|this|that|these|those|one|another|recent|"
    r"published|available|current|latest|same|own|(?:19|20)\d\d|the patient['’]s|patient['’]s)|"
    r"(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w-]+(?: [A-Z][\w-]+){0,2}['’]s?)\s+)+$"
)
_BEHIND = re.compile(
    r"(?:['’]s)?(?:\s+(?:evidence|searches|search|findings|data|results?|records?|tool|entry|entries|"
    r"reviews?|database|study|studies|literature|abstracts?|articles?|papers?|notes?|history|chart|"
    r"list|section|file|system|server|output|source)\b)+"
)
_SINGULAR = {
    "show": "shows", "list": "lists", "report": "reports", "state": "states", "say": "says",
    "find": "finds", "indicate": "indicates", "suggest": "suggests", "note": "notes",
    "record": "records", "document": "documents", "demonstrate": "demonstrates",
    "describe": "describes", "confirm": "confirms", "reveal": "reveals", "mention": "mentions",
    "include": "includes", "contain": "contains", "support": "supports", "warn": "warns",
    "are": "is", "were": "was", "have": "has",
}  # fmt: skip
_LEAD = re.compile(
    r"\s*(according to|as per|per|based on|from|in|on|within|via|"
    r"as (?:noted|documented|recorded|reported|described|stated|listed|shown|seen) (?:in|by|on))\b",
    re.IGNORECASE,
)
# Words that open a sentence with a capital only because it is a sentence.
_OPENERS = frozenset(
    "the a an her his their its she he they it this that these those there in on at of for with no "
    "not most some many several all both each patients patient treatment use after before during "
    "when where while if as among by from compared overall our".split()
)


def source_noun(family_id: str, families: Families) -> str | None:
    """What an answer calls a source of that family: "the patient's chart"; always read back as it.

    None for a family that no words name.
    """
    family = next((item for item in families.items if item.family_id == family_id), None)
    offered = [_NOUNS[family_id]] if family_id in _NOUNS else []
    if family is not None and family_id != OTHER:
        offered += [f"the {family.label}", *family.aliases]
    for noun in offered:
        if named_families(noun, families) == {family_id}:
            return noun
    return None


def named_families(text: str, families: Families) -> set[str]:
    """The families that the words of a text name."""
    return {mention.family_id for mention in families.mentions(text)}


def recredit(credit: str, noun: str, families: Families) -> str | None:
    """The credit with ``noun`` in place of what it names; None when its words cannot be changed so.

    "Per the EHR" becomes "Per published literature", "a 2019 trial found" "the chart shows".
    """
    mentions = sorted(families.mentions(credit), key=lambda m: (m.span.start, -m.span.end))
    if not mentions:
        return None
    first = mentions[0]
    start = first.span.start
    end = max(m.span.end for m in mentions if m.span.start <= first.span.end + 12)
    if any(mention.paraphrase and mention.span.end == end for mention in mentions):
        changed = _paraphrased(credit, start, end, noun)
    else:
        before = _BEFORE.search(credit[:start])
        start = before.start() if before else start
        behind = _BEHIND.match(credit, end)
        end = behind.end() if behind else end
        changed = credit[:start] + noun + _agreeing(credit[end:])
    if credit[:1].isupper() or not credit[:1].isalpha():
        changed = capitalised(changed)
    return changed


def lead_of(credit: str) -> str | None:
    """The words that introduce a credit at the start of a sentence: "According to"; None without."""
    match = _LEAD.match(credit)
    return match.group(1) if match else None


def credited(statement: str, noun: str, *, sentence: bool, known: Iterable[str]) -> str:
    """The statement with its source named; a fragment (no ``sentence``) gets it in brackets behind.

    ``known`` are texts that show which words are written in lower case.
    """
    if not sentence:
        stop = re.search(r"[.;]?\s*$", statement)
        at = stop.start() if stop else len(statement)
        return f"{statement[:at]} (per {noun}){statement[at:]}"
    return f"According to {noun}, {lowered(statement, known)}"


def lowered(sentence: str, known: Iterable[str]) -> str:
    """The sentence as it reads in the middle of another; names and abbreviations keep their capital.

    A word is taken for a name when another capital follows it, or when ``known`` texts write it
    with a capital inside a sentence and never without.
    """
    match = re.match(r"[A-Z][a-z]*(?![\w'’])(?! [A-Z])", sentence)
    if match is None or match.group() == "I":
        return sentence
    word = match.group()
    texts = list(known)
    inside = re.compile(rf"(?:[a-z,:(]|\b(?:Mr|Ms|Mrs|Dr)\.?) {word}\b")
    without = re.compile(rf"(?<![\w.]){word.lower()}(?!\w)")
    if (
        word.lower() not in _OPENERS
        and any(inside.search(text) for text in texts)
        and not any(without.search(text) for text in texts)
    ):
        return sentence
    return word[0].lower() + sentence[1:]


def capitalised(text: str) -> str:
    """The text with its first letter as a capital, unless the word has an inner one (mRNA, pH)."""
    match = re.match(r"[^\w]*([a-z])[a-z'’-]*(?![A-Z0-9])", text)
    if match is None:
        return text
    at = match.start(1)
    return text[:at] + text[at].upper() + text[at + 1 :]


def finished(sentence: str) -> str:
    """The sentence with a stop at its end."""
    bare = sentence.rstrip()
    return bare if re.search(r"[.!?…][\"'”’)\]*_]*$", bare) else bare.rstrip(",;:") + "."


def is_record_line(line: str) -> bool:
    """Whether a line of evidence is a record ("label: Asthma; status: active") and no sentence."""
    pairs = len(re.findall(r"(?:^|[;,]\s)\s*[\w /()-]{1,40}:\s", line))
    return (
        pairs >= 2
        or bool(re.match(r"\s*[\w /.\[\]()-]{1,60}:\s", line))
        or ";" in line
        and pairs > 0
    )


def _paraphrased(credit: str, start: int, end: int, noun: str) -> str:
    said = credit[start:end]
    if re.match(r"(?:charted|documented|recorded|registered|on file)", said, re.IGNORECASE):
        return f"{credit[:start]}reported in {noun}{credit[end:]}"
    if re.match(r"in\b", said, re.IGNORECASE):
        return f"{credit[:start]}{said[:2]} {noun}{credit[end:]}"
    verb = "recommends" if re.search(r"recommend|advis", said) else "shows"
    last = words(said)[-1:]
    if last and last[0] not in _VERBS:  # "Smith et al."
        return f"{credit[:start]}{noun}{_agreeing(credit[end:])}"
    return f"{credit[:start]}{noun} {verb}{credit[end:]}"


_VERBS = frozenset([*_SINGULAR, *_SINGULAR.values()]) | frozenset(
    "found showed reported demonstrated concluded concludes observed suggested indicated recommends "
    "advises described states listed includes has documented notes mentions carries recommend "
    "contraindicates advise lists revealed indicates finds are were was gives".split()
)


def _agreeing(rest: str) -> str:
    """What follows a singular noun, with its verb made to agree."""
    match = re.match(r"(\s+(?:also |clearly |currently )?)([a-z]+)\b", rest)
    if match and match.group(2) in _SINGULAR:
        return match.group(1) + _SINGULAR[match.group(2)] + rest[match.end() :]
    return rest
