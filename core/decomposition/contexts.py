"""What stands before a statement and says what it is about: kept beside it, no part of it (III.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from core.decomposition.grammar import AUXILIARIES, SUBJECTS
from core.decomposition.parsing import Word, parsed
from core.text.tokens import content_terms

_LONGEST = 200  # characters of one stretch
_FINITE = frozenset(("VBZ", "VBP", "VBD", "MD"))


@dataclass(slots=True)
class Surroundings:
    """What an answer said on the way down to a statement: the headings, the line that introduces it, the
    list items over it, and the sentences of its paragraph or list item."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    parents: list[tuple[int, str]] = field(default_factory=list)
    intro: str = ""
    said: list[str] = field(default_factory=list)
    last: str = ""  # how the paragraph before ends

    def enter(self, level: int, title: str) -> None:
        """Goes under a heading; what stood before it is no context any more."""
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.headings.append((level, title))
        self.intro, self.parents, self.said, self.last = "", [], [], ""

    def item(self, depth: int) -> None:
        """Goes to a list item of a depth."""
        while self.parents and self.parents[-1][0] >= depth:
            self.parents.pop()

    def leave(self, *, paragraph: bool) -> None:
        """Leaves a paragraph, a list item or a row."""
        self.last, self.said = self.said[-1] if self.said and paragraph else "", []

    def context(self, text: str, label: str = "", begun: str = "") -> tuple[str, ...]:
        """What the answer says before a statement, as written, outermost first: what stands over it, the
        ``label`` of its line, how its paragraph opens, the sentence before, how its own sentence ``begun``;
        of these what has words that are new.
        """
        above = [title for _, title in self.headings] + [self.intro]
        above += [item for _, item in self.parents] + [label]
        seen, found = content_terms(text), list[str]()
        before = [*self.said[:1], *self.said[-1:]] if self.said or begun else [self.last]
        for stretch in (*above, *before, begun):
            if terms := content_terms(stretch) - seen:
                seen |= terms
                cut = stretch[:_LONGEST].rsplit(maxsplit=1)[0] + " …"
                found.append(stretch if len(stretch) <= _LONGEST else cut)
        return tuple(found)


def completed(said: str, before: str, whole: str) -> str:
    """A part of a sentence as a statement: as it stands where it is a clause, with the subject of the part
    ``before`` that it was cut from where it opens with a verb, in notes with their label; else ``whole``,
    the sentence up to its end."""
    words = parsed(said)
    opens = words[0] if words else None
    if _clause(words) is not None and opens and opens.role != "mark" and opens.tag[0] != "W":
        return said
    if whole.count("(") > whole.count(")"):
        return f"{whole})"
    if (verb := _clause(parsed(before))) is None:
        label = re.match(r"[^:]{1,60}:\s", before)
        return f"{label.group()}{said}" if label is not None else said
    if opens and opens.tag in _FINITE:
        led = [word.start for word in parsed(before)[: verb.index] if _helps(word, verb)]
        return f"{before[: min([verb.start, *led])].strip(' ,')} {said}"
    return whole


def _clause(words: tuple[Word, ...]) -> Word | None:
    """The first verb that has a subject."""
    heads = (words[word.head] for word in words if word.role in SUBJECTS)
    return next((verb for verb in heads if verb.is_verb), None)


def _helps(word: Word, verb: Word) -> bool:
    return word.head == verb.index and word.role in AUXILIARIES
