"""What a parsed sentence says of its words: who is subject of what, what is denied, what is listed.

Every question is asked of the words that a fact holds: a fact is some of the sentence's words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.decomposition.parsing import Word
from core.evidence.quantities import within_amount

SUBJECTS = frozenset(("nsubj", "nsubjpass", "expl", "csubj", "csubjpass"))
AUXILIARIES = frozenset(("aux", "auxpass"))
OBJECTS = frozenset(("dobj", "attr", "acomp", "oprd", "pobj", "dative"))
_TAKEN = frozenset(("dobj", "attr", "oprd", "ccomp"))
_LEADING = frozenset(("prep", "npadvmod", "advmod"))
_CLAUSES = frozenset(("ROOT", "conj", "ccomp", "parataxis"))
_DATE = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\Z|(?:19|20)\d\d\Z|\d+[/-]\d+", re.I
)
_PLURAL = frozenset(("you", "we", "they", "these", "those", "all", "both", "most", "some", "many"))
_LOOSE = frozenset(("however", "also", "then", "overall", "additionally", "finally", "moreover"))


class Grammar:
    """The words of a sentence with what hangs on each."""

    def __init__(self, words: Sequence[Word], text: str) -> None:
        self.words, self.text = words, text
        self.children: list[list[int]] = [[] for _ in words]
        for word in words:
            if word.head != word.index:
                self.children[word.head].append(word.index)

    def below(self, index: int, held: frozenset[int]) -> frozenset[int]:
        """A word and everything that hangs on it, of the words that are held."""
        found, waiting = set(), [index]
        while waiting:
            at = waiting.pop()
            if at in held:
                found.add(at)
            waiting += self.children[at]
        return frozenset(found)

    def goes_on(self, word: Word, held: frozenset[int]) -> bool:
        """Whether a word heads another predicate of the verb that it hangs on."""
        if not word.is_verb:
            return False
        if word.role in ("conj", "parataxis"):
            return self.finite(word, held) or word.tag in ("VBN", "VB", "VBG")
        marked = any(
            self.words[i].role in ("mark", "aux") or self.words[i].tag in ("WRB", "WDT", "WP", "IN")
            for i in self.children[word.index]
            if i < word.index
        )
        plain = word.tag in ("VBZ", "VBP", "VBD") and not marked
        begins = min(self.below(word.index, held))
        return plain and word.role in ("advcl", "dep") and self.comma_before(begins)

    def finite(self, word: Word, held: frozenset[int]) -> bool:
        if word.tag in ("VBZ", "VBP", "VBD", "MD"):
            return True
        return any(
            i in held and self.words[i].role in AUXILIARIES for i in self.children[word.index]
        )

    def asserts(self, verb: Word, held: frozenset[int]) -> bool:
        """Whether a verb heads a clause that the sentence asserts."""
        if not verb.is_verb or not self.finite(verb, held):
            return False
        at = verb
        while at.head != at.index and at.head in held:
            if at.role not in _CLAUSES:
                return False
            at = self.words[at.head]
        return True

    def clause_of(self, verb: Word, held: frozenset[int]) -> Word:
        """The first of the clauses that are coordinated with a verb."""
        at = verb
        while at.role in ("conj", "parataxis") and at.head in held:
            at = self.words[at.head]
        return at

    def subject(self, verb: Word, held: frozenset[int]) -> frozenset[int]:
        at = verb
        while True:
            found = [
                i for i in self.children[at.index] if i in held and self.words[i].role in SUBJECTS
            ]
            if found:
                return frozenset().union(*(self.below(i, held) for i in found))
            if at.role != "conj" or at.head == at.index:
                return frozenset()
            at = self.words[at.head]

    def has_subject(self, verb: Word, held: frozenset[int]) -> bool:
        """Whether a clause has a subject of its own."""
        return any(self.words[i].role in SUBJECTS for i in self.children[verb.index] if i in held)

    def fits(self, subject: frozenset[int], verb: Word) -> bool:
        """Whether a verb agrees with the subject that would be carried to it; else it was misread."""
        if not subject:
            return False
        heads = [self.words[i] for i in subject if self.words[i].head not in subject]
        several = len(heads) > 1 or any(
            self.words[i].role == "conj" and self.words[i].head == heads[0].index for i in subject
        )
        head = heads[0]
        plural = several or head.tag in ("NNS", "NNPS") or head.text.lower() in _PLURAL
        if verb.tag == "VBZ":
            return not plural
        return verb.tag != "VBP" or plural or head.text.lower() == "i"

    def negated(self, verb: Word, held: frozenset[int]) -> bool:
        return any(
            i in held and (self.words[i].role == "neg" or self.words[i].text.lower() == "never")
            for i in self.children[verb.index]
        )

    def takes_auxiliary(self, verb: Word, other: Word, held: frozenset[int]) -> bool:
        """Whether the second predicate lacks the auxiliary that the first has."""
        theirs = [
            i for i in self.children[verb.index] if i in held and self.words[i].role in AUXILIARIES
        ]
        if not theirs or any(
            i in held and self.words[i].role in AUXILIARIES for i in self.children[other.index]
        ):
            return False
        passive = any(self.words[i].role == "auxpass" for i in theirs)
        takes = any(self.words[i].role in _TAKEN for i in self.children[other.index])
        if passive:  # "was called and returned 12 rows"
            return other.tag in ("VBN", "VBD") and not takes
        return other.tag in ("VB", "VBN", "VBG")

    def carried(
        self, verb: Word, other: Word, held: frozenset[int], *, own: bool
    ) -> frozenset[int]:
        """What the second clause needs of the first: what opens the sentence, subject, auxiliaries."""
        found: set[int] = set()
        subject = self.subject(verb, held)
        begins = min(subject, default=verb.index)
        for i in self.children[verb.index]:
            word = self.words[i]
            if i not in held:
                continue
            if word.role in _LEADING and i < begins and word.text.lower() not in _LOOSE:
                found |= self.below(i, held)
            if not own and word.role in AUXILIARIES and self.takes_auxiliary(verb, other, held):
                found.add(i)
                found |= {j for j in self.children[verb.index] if self.words[j].role == "neg"}
        return frozenset(found | (set() if own else subject)) & held

    def joints(self, verb: Word, other: Word, held: frozenset[int]) -> frozenset[int]:
        """The conjunction between two clauses, with what goes with it."""
        return frozenset(
            i
            for head in (verb.index, other.index)
            for i in self.children[head]
            if i in held
            and (
                (self.words[i].role == "cc" and verb.index < i < other.index)
                or (self.words[i].role in ("advmod", "mark") and head == other.index
                    and self.words[i].text.lower() in ("then", "also", "so", "while", "whereas"))
            )
        )  # fmt: skip

    def members(self, noun: Word, held: frozenset[int]) -> tuple[list[int], frozenset[int]]:
        """The things that are coordinated with a noun, in order, and what stands between them."""
        members, joints = [noun.index], set()
        at: int | None = noun.index
        while at is not None:
            follows = None
            for i in self.children[at]:
                word = self.words[i]
                if i not in held:
                    continue
                if word.role in ("cc", "preconj") or (
                    word.role == "det" and word.text.lower() == "both"
                ):
                    joints.add(i)
                if word.role == "conj" and not word.is_verb and i > at:
                    follows = i
                    members += [] if self.within_amount(i) else [i]
            at = follows
        between = {
            i for i in held
            if members[0] < i < members[-1] and self.words[i].role == "punct"
            and self.words[i].text == "," and self.words[i].head in members
        }  # fmt: skip
        joints = {i for i in joints | between if not self.within_amount(i)}
        return members, frozenset(joints)

    def within_amount(self, index: int) -> bool:
        """Whether a word goes on with an amount: the minutes of "8 hours and 40 minutes"."""
        return within_amount(self.text, self.words[index].start)

    def is_date(self, index: int) -> bool:
        return bool(_DATE.match(self.words[index].text))

    def governed(self, noun: Word, held: frozenset[int]) -> bool:
        """Whether an asserted verb governs the things, directly or over prepositions and nouns."""
        at, steps = noun, 0
        while at.head != at.index and steps < 6:
            if at.role not in (*OBJECTS, "prep", "agent", "ROOT"):
                return False
            at, steps = self.words[at.head], steps + 1
            if at.is_verb:
                return at.index in held and self.asserts(at, held)
        return False

    def verb_above(self, noun: Word) -> Word | None:
        at = noun
        while at.head != at.index:
            at = self.words[at.head]
            if at.is_verb:
                return at
        return None

    def none_above(self, noun: Word, held: frozenset[int]) -> bool:
        """Whether a noun on the way up is denied: "no evidence of gout or asthma"."""
        at = noun
        while at.head != at.index and not at.is_verb:
            at = self.words[at.head]
            if any(
                self.words[i].text.lower() in ("no", "neither", "little", "few")
                for i in self.children[at.index]
                if i in held
            ):
                return True
        return False

    def trimmed(self, chosen: frozenset[int]) -> frozenset[int]:
        """Without commas and dashes that are left at an end, or beside a gap."""
        kept = sorted(chosen)
        found = []
        for at, index in enumerate(kept):
            word = self.words[index]
            if word.role == "punct" and word.text in (",", ";", "-", "–", "—"):
                gap_before = at == 0 or kept[at - 1] != index - 1
                gap_after = at == len(kept) - 1 or kept[at + 1] != index + 1
                if gap_before or gap_after:
                    continue
            if word.text in (".", "!") and at and kept[at - 1] != index - 1:
                continue
            found.append(index)
        return frozenset(found)

    def text_between(self, first: Word, second: Word, held: frozenset[int]) -> str:
        """What stands between a clause that opens the sentence and the rest of it."""
        end = max(self.below(first.index, held))
        return self.text[self.words[end].end : second.start].lstrip()

    def marked_off(self, index: int, held: frozenset[int]) -> bool:
        """Whether a mark or a conjunction stands before the clause that a word heads."""
        begins = min(self.below(index, held))
        around = self.words[max(begins - 1, 0) : begins + 1]
        return any(word.role in ("punct", "cc") for word in around)

    def comma_before(self, index: int) -> bool:
        return index > 0 and self.words[index - 1].text == ","

    def said(self, held: frozenset[int]) -> str:
        return " ".join(self.words[i].text for i in sorted(held))

    def alike(self, members: Sequence[int], held: frozenset[int], last: frozenset[int]) -> bool:
        """ "by 64% on A, 38% on B": values of one form, each with its own phrase, and nothing behind."""
        behind = [i for i in held if i > max(last) and self.words[i].role != "punct"]
        return not behind and all(
            any(self.words[i].role == "nummod" for i in self.children[at])
            and any(self.words[i].role == "prep" for i in self.children[at])
            for at in members
        )
