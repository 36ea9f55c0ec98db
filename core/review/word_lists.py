"""Word lists: what somebody wants lit wherever claims and sources are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import InputError

MOST_WORDS = 200
WORD_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLists:
    """The words of one person, and those of their project."""

    mine: tuple[str, ...] = ()
    team: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Both, the person's own first, each once in any case."""
        return _once([*self.mine, *self.team])


def read_words(text: str) -> tuple[str, ...]:
    """The words of a text, one a line or between commas; blanks are joined, each is kept once.

    Raises InputError for too many of them, or one that is too long.
    """
    found = _once(" ".join(each.split()) for each in re.split(r"[\n,;]", text))
    if len(found) > MOST_WORDS:
        raise InputError(f"expected at most {MOST_WORDS} words, found {len(found)}", path="words")
    for each in found:
        if len(each) > WORD_CHARACTERS:
            raise InputError(
                f"expected at most {WORD_CHARACTERS} characters, found {each!r:.100}", path="words"
            )
    return found


def _once(words: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for each in words:
        if each:
            found.setdefault(each.casefold(), each)
    return tuple(found.values())
