"""What a bare "No.", "Yes, it was." or "✅" claims: what was asked (III.2).

An answer that has no words of its own says what its question asks, so that it is a claim: the question
as a statement where its grammar is plain ("Was it shipped?", "No." is "It was not shipped."), else the
question with the answer. It never passes as a remark, whatever stands beside it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from core.decomposition.answer_lines import cell_text
from core.decomposition.markdown import plain
from core.decomposition.parsing import Word, parsed
from core.decomposition.sentences import Statement
from core.records import ClaimType, Span
from core.text.sentences import sentence_spans
from core.text.tokens import content_terms, denies

# Closed classes: what agrees or denies, and what only agrees to do something.
_POLAR = content_terms(
    "yes yep yeah yup no nope nah correct incorrect true false right wrong indeed exactly affirmative "
    "negative done none not never yet still always"
)
# What answers where no yes or no does: "Which allergies?" "None." – nothing beside it says that.
_SAYS_ITSELF = content_terms("none not never yet still always")
_AGREES = content_terms("sure certainly course absolutely definitely ok okay understood alright")
_DENIES = frozenset("nope nah incorrect false wrong negative".split())
_ASKED_OF_THE_AGENT = re.compile(
    r"(?:can|could|would|will|may|might)(?: you| i| we)\b", re.IGNORECASE
)
_SUBJECTS = frozenset("nsubj nsubjpass csubj csubjpass expl".split())
_BEHIND_A_NOUN = frozenset("prep relcl cc conj nummod case poss".split())
_MOST_ASKED = 300  # characters of a question that is read as a statement
_BESIDE = "A bare answer: the statements beside it say what it means."


def claim_bare_answers(answer: str, statements: list[Statement], question: str) -> list[Statement]:
    """The statements, each bare answer as the claim that it makes of ``question``.

    An answer from which nothing was read ("✅") is one bare answer.
    """
    asked = plain(question)
    if not statements:
        whole = Span(start=len(answer) - len(answer.lstrip()), end=len(answer.rstrip()))
        statements = [_unread(whole, cell_text(answer))]
    polar, clause = _polar_question(asked), _asked_clause(asked)
    others = any(
        each.claim_type is ClaimType.FACTUAL and not _is_bare(each.text) for each in statements
    )
    found = []
    for each in statements:
        said = each.claim_type in (ClaimType.FACTUAL, ClaimType.META) and _is_bare(each.text)
        agrees = not content_terms(each.text) & _POLAR
        if not said or (polar is None and agrees and each.claim_type is ClaimType.META):
            found.append(each)
        elif clause is not None:
            not_so = "It is not so that " if _denied(each.text) else ""
            found.append(_claimed(each, f"{not_so}{clause}."))
        elif polar is not None:
            claim = _stated(polar, denied=_denied(each.text)) or f"{polar} {each.text}"
            found.append(_claimed(each, claim))
        elif others and not content_terms(each.text) & _SAYS_ITSELF:
            found.append(replace(each, claim_type=ClaimType.META, reason=_BESIDE))
        else:
            found.append(_claimed(each, f"{asked} {each.text}".strip()))
    return found


def _unread(span: Span, text: str) -> Statement:
    return Statement(
        span=span,
        text=text.strip() or "(no words)",
        context=(),
        claim_type=ClaimType.FACTUAL,
        reason=None,
        stated=None,
        patient_specific=False,
        subject=None,
    )


def _claimed(each: Statement, text: str) -> Statement:
    return replace(each, text=text, claim_type=ClaimType.FACTUAL, reason=None)


def _is_bare(text: str) -> bool:
    """Whether nothing is said but yes, no or done: no word of its own, or none that is a letter."""
    return content_terms(text) <= _POLAR | _AGREES


def _denied(text: str) -> bool:
    return denies(text, _DENIES)


def _polar_question(asked: str) -> str | None:
    """The last question where yes or no answers it: none of who or what, none that asks for a deed."""
    questions = [
        text for span in sentence_spans(asked) if (text := span.cut(asked)).endswith(("?", "？"))
    ]
    if not questions or _ASKED_OF_THE_AGENT.match(questions[-1]):
        return None
    if len(questions[-1]) > _MOST_ASKED:
        return None
    words = parsed(questions[-1])
    if any(word.tag in ("WP", "WDT", "WRB", "WP$") for word in words[:3]):
        return None
    return questions[-1]


def _asked_clause(asked: str) -> str | None:
    """What the last sentence asks to be told whether it is so: "Can you check whether order 7 shipped?"."""
    spans = sentence_spans(asked)
    last = spans[-1].cut(asked) if spans else ""
    if len(last) > _MOST_ASKED:
        return None
    words = parsed(last)
    for word in words:
        if word.role == "mark" and words[word.head].role == "ccomp":
            mark = last[word.start : word.end].casefold()
            if mark in ("if", "whether"):
                return last[word.end :].strip(" .?？!") or None
    return None


def _stated(question: str, *, denied: bool) -> str | None:
    """The question as a statement, its first verb behind its subject; None where that is not plain."""
    words = parsed(question)
    subject = next((word for word in words[1:] if word.role in _SUBJECTS), None)
    if subject is None or not words[0].is_verb:
        return None
    of_subject = [word.index for word in words if _is_of(word, subject, words)]
    of_subject = [*_nouns_before(min(of_subject), words), *of_subject]
    if of_subject != list(range(1, len(of_subject) + 1)):
        return None
    last = words[len(of_subject)]
    verb = question[words[0].start : words[0].end].casefold()
    said = question[words[1].start : last.end]
    rest = question[last.end :].rstrip(" ?？")
    return f"{said[:1].upper()}{said[1:]} {verb}{' not' if denied else ''}{rest}."


def _nouns_before(first: int, words: tuple[Word, ...]) -> list[int]:
    """ "order" of "order SO-48213", which the parser may not hang on the subject."""
    before = list(range(1, first))
    return before if all(words[at].tag.startswith(("NN", "DT", "PRP")) for at in before) else []


def _is_of(word: Word, subject: Word, words: tuple[Word, ...]) -> bool:
    """Whether a word is the subject's; an adjective or noun behind it ("Is he allergic …") is not."""
    while word.index != subject.index:
        behind = word.head == subject.index and word.index > subject.index
        if word.head == word.index or (behind and word.role not in _BEHIND_A_NOUN):
            return False
        word = words[word.head]
    return True
