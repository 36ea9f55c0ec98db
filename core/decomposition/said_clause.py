"""Where the clause begins that a sentence credits: "The chart says she takes iron" (III.2)."""

from __future__ import annotations

import re

from core.decomposition.grammar import SUBJECTS, Grammar
from core.decomposition.parsing import Word, parsed
from core.records import Span

_LEAD = re.compile(r"\s*(?:according to|as per|per)\b", re.IGNORECASE)
_FINITE = frozenset(("VBZ", "VBP", "VBD", "MD"))


def said_clause(sentence: str, credit: Span) -> int | None:
    """The start of the finite clause that a credit at the head of its sentence is of.

    None where something else follows: what "The chart shows a penicillin allergy" says is no clause,
    and without its first words it would say nothing. Where the grammar is read wrongly the sentence
    stays whole.
    """
    if sentence[: credit.start].strip() or not sentence[credit.end :].strip():
        return None
    words = parsed(re.sub(r"[_*`#|]", " ", sentence))  # as the cuts ask for it
    grammar, every = Grammar(words, sentence), frozenset(range(len(words)))
    for subject in words:
        verb = words[subject.head]
        if subject.role not in SUBJECTS or subject.start < credit.end:
            continue
        if not _is_finite(verb, grammar):
            continue
        first = min(grammar.below(subject.index, every))
        if first > 0 and _is_credited(verb, words[first - 1], grammar, credit):
            return words[first].start
    return None


def _is_finite(verb: Word, grammar: Grammar) -> bool:
    below = (grammar.words[child] for child in grammar.children[verb.index])
    return verb.tag in _FINITE or any(
        word.role in ("aux", "auxpass") and word.tag in _FINITE for word in below
    )


def _is_credited(verb: Word, before: Word, grammar: Grammar, credit: Span) -> bool:
    """Whether a clause is what the credited source says, or heads the sentence behind a bare lead.

    ``before`` is the word in front of the clause.
    """
    if verb.role == "ROOT":
        lead = _LEAD.match(grammar.text, credit.start) is not None
        return lead and credit.start <= before.start < credit.end
    saying = grammar.words[verb.head]
    if before.role == "mark" and before.text.lower() == "that" and before.index > 0:
        before = grammar.words[before.index - 1]
    return (
        verb.role == "ccomp"
        and saying.role == "ROOT"
        and saying.index == before.index
        and any(
            grammar.words[child].role in SUBJECTS
            and credit.start <= grammar.words[child].start < credit.end
            for child in grammar.children[saying.index]
        )
    )
