"""Words as facts and claims share them: stems, camel case taken apart, short forms made long.

The short forms are the few that records and answers use for the same thing; acronyms of a label
("HDL" for High Density Lipoprotein) need no entry, they are read off the label.
"""

from __future__ import annotations

import re
from functools import lru_cache

from core.text.han import RUN, english_of, parts_of
from core.text.tokens import PLAIN_WORD

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+|[A-Za-z]*\d[A-Za-z\d]*")
_NUMBERED = re.compile(r"\b([A-Z][A-Za-z]{1,5})[ -](\d{1,3})\b")
STOP = frozenset(
    "a an the of in on at to for from by with and or but as is are was were be been being it its this "
    "that these those he she they his her their him them has have had do does did not no nor than then "
    "there here which who whom whose what when where how all any each both few more most other some "
    "such only own same so too very can will just should would could may might must up down out over "
    "under again further once about after before during between into through against per via mr mrs "
    "ms dr also still now i you we our your my me us if because until while since within s t".split()
)
# Words that only say that something stands in a record, or that it is so.
PLAIN = frozenset(
    "a an the of for to in on at with by as is are was were be been has have had it its his her their he "
    "she they this that these those patient patients mr mrs ms miss dr chart charts record records "
    "recorded lists listed list shows showed states stated says file documented entry entries there level "
    "levels value values reading readings measured measurement measurements result results stood visit "
    "visits test tests came out gives gave given found reported reports per count counts number total "
    "dated done when then according equals currently current aged age old years year birth born roughly "
    "nearly approximately around about exactly reached underwent suffered received got weighed".split()
)
_SAID = {
    "tc": "total cholesterol", "tg": "triglyceride", "trig": "triglyceride", "hb": "hemoglobin",
    "hgb": "hemoglobin", "haemoglobin": "hemoglobin", "wbc": "leukocyte", "rbc": "erythrocyte",
    "plt": "platelet", "hct": "hematocrit", "sbp": "systolic", "dbp": "diastolic", "flu": "influenza",
    "weigh": "weight", "wt": "weight", "heavy": "weight", "tall": "height", "ht": "height",
    "shot": "immunization", "jab": "immunization", "vaccine": "immunization", "dos": "dose",
    "vaccination": "immunization", "immunisation": "immunization", "prescription": "medication",
    "prescrib": "medication", "drug": "medication", "medicine": "medication", "med": "medication",
    "order": "medication", "born": "birth", "dob": "birth", "old": "birth", "age": "birth",
    "bp": "blood pressure", "hr": "heart rate", "htn": "hypertension", "polio": "ipv",
    "diagnosi": "condition", "illness": "condition", "pric": "price", "cost": "price",
    "tumour": "tumor", "pub": "publish", "publication": "publish", "a1c": "hba1c", "kidney": "renal",
    "white": "leukocyte", "hep": "hepatitis", "duration": "time", "driv": "time",
}  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its inflection: weights, weighed and weighing meet."""
    word = word.lower()
    if len(word) <= 3 or word[-1].isdigit():
        return word
    for ending, kept in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ing", ""),
        ("ed", ""),
        ("es", "e"),
        ("s", ""),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: len(word) - len(ending)] + kept
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.rstrip("e") if len(word) > 4 else word


_SAME = {stem(short): tuple(stem(word) for word in long.split()) for short, long in _SAID.items()}


@lru_cache(maxsize=65_536)
def stems(text: str) -> frozenset[str]:
    """The content words of a text as stems, with what its short forms stand for."""
    found: set[str] = set()
    for match in PLAIN_WORD.finditer(text):
        whole = match.group()
        if not whole.isascii() and RUN.search(whole):
            _add_han(whole, found)
            continue
        parts = [whole] if whole.islower() or whole.isupper() else [whole, *_WORD.findall(whole)]
        for part in parts:
            if part.lower() in STOP or (len(part) == 1 and part.isascii()):
                continue
            found.add(stem(part))
    for match in _NUMBERED.finditer(text):  # "PCV 13" is PCV13
        found.add((match.group(1) + match.group(2)).lower())
    for short in [word for word in found if word in _SAME]:
        found.update(_SAME[short])
    return frozenset(found)


def _add_han(word: str, found: set[str]) -> None:
    """Add a Chinese word's parts, and its English where a text in English may mean it."""
    found.update(stem(part) for part in parts_of(word))
    for run in RUN.findall(word):
        found.update(stem(each) for each in english_of(run) if each not in STOP and len(each) > 1)


@lru_cache(maxsize=16_384)
def acronyms(label: str) -> frozenset[str]:
    """The short forms that a label's own words give: ldl, ldlc, bmi, egfr."""
    words = [word for word in re.findall(r"[A-Za-z]+", label) if word.lower() not in STOP][:8]
    initials = "".join(word[0].lower() for word in words)
    found = {initials[i:j] for i in range(len(initials)) for j in range(i + 2, len(initials) + 1)}
    return frozenset(found | {"e" + short for short in found if short == "gfr"})


@lru_cache(maxsize=16_384)
def core_words(label: str) -> frozenset[str]:
    """The stems that name an attribute: without brackets, method, specimen and what says nothing."""
    bare = re.sub(
        r"\[[^\]]*\]|\([^)]*\)|\bby (?:automated|manual)\b.*|\bin (?:blood|serum|urine|plasma).*",
        " ",
        label,
        flags=re.I,
    )
    words = {stem(part) for whole in PLAIN_WORD.findall(bare) for part in (_WORD.findall(whole) or [whole])
             if part.lower() not in STOP and len(part) > 1 and not RUN.search(part)}  # fmt: skip
    if not bare.isascii():
        words |= {stem(part) for run in RUN.findall(bare) for part in parts_of(run)}
    return frozenset(words - _GENERIC or words)


def said_share(core: frozenset[str], words: frozenset[str]) -> float:
    """The share of an attribute's words that a claim says, in the attribute's language or in English."""
    if not core:
        return 0.0
    said = sum(each in words or (not each.isascii() and bool(stems(each) & words)) for each in core)
    return said / len(core)


_GENERIC = frozenset(
    {
        "body",
        "value",
        "level",
        "result",
        "observation",
        "amount",
        "data",
        "field",
        "summary",
        "query",
    }
)
