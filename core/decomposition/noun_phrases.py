"""The noun phrases of a line, by its grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.decomposition.parsing import Word, parsed

LONGEST_PARSED = 600  # characters
_MODIFIERS = frozenset(("amod", "compound", "nummod", "nmod", "poss", "quantmod", "punct", "case"))
_LINKS = frozenset("of for from to in about on with by at".split())
_EDGES = " \"'“”,.*`"
_LONGEST = 14  # words


def noun_phrases(text: str) -> Iterator[str]:
    """The noun phrases of a text in order, without article, each also with what a preposition adds."""
    words = parsed(text[:LONGEST_PARSED])
    children: dict[int, list[Word]] = {}
    for word in words:
        if word.head != word.index:
            children.setdefault(word.head, []).append(word)
    for word in words:
        if not word.tag.startswith("NN") or word.role in ("compound", "nmod"):
            continue
        start = words[_first(word, words, children)].start
        last = _last(word, children)
        for end in dict.fromkeys((word.end, last.end)):
            phrase = text[start:end].strip(_EDGES)
            if phrase and len(phrase.split()) <= _LONGEST:
                yield phrase


def _first(word: Word, words: Sequence[Word], children: Mapping[int, Sequence[Word]]) -> int:
    """Where the phrase of a noun begins, articles and pronouns left out."""
    mine = {child.index for child in children.get(word.index, []) if child.role in _MODIFIERS}
    for child in list(mine):
        mine |= {each.index for each in children.get(child, [])}
    first = word.index
    while first - 1 in mine and words[first - 1].tag not in ("PRP$", "DT", ",", "``", ":"):
        first -= 1
    return first


def _last(word: Word, children: Mapping[int, Sequence[Word]]) -> Word:
    """The last word of "tickets from Beijing to Shanghai" by its first noun."""
    last = word
    for link in children.get(word.index, []):
        if link.role == "prep" and link.index == last.index + 1 and link.text.lower() in _LINKS:
            things = [each for each in children.get(link.index, []) if each.role == "pobj"]
            last = things[0] if things else last
    return last
