"""The rules of a claim lattice: each looks at a claim and what it cites, and finds a violation or none.

Rules know no parser. ``PAIR_RULES`` see one cited object at a time, the first that fires speaks for
the pair; ``CLAIM_RULES`` see a claim with all that it cites.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.citations.evidence_map import ALLOWED_ROLES, EvidenceObject
from core.citations.lattice_parsers import LatticeClaim
from core.text.tokens import is_content_word, normalised_term, words


class Kind(StrEnum):
    """What can be wrong with a lattice; in the order in which one is taken as a claim's status."""

    SCHEMA_INVALID = "SCHEMA_INVALID"
    MANUAL_QUOTE_VIOLATION = "MANUAL_QUOTE_VIOLATION"
    NO_EVIDENCE_POINTER = "NO_EVIDENCE_POINTER"
    UNKNOWN_EVIDENCE_ID = "UNKNOWN_EVIDENCE_ID"
    SOURCE_ROLE_BLOCKED = "SOURCE_ROLE_BLOCKED"
    CITATION_MISMATCH = "CITATION_MISMATCH"
    POINTER_OVERFLOW_TRIMMED = "POINTER_OVERFLOW_TRIMMED"
    TOO_MANY_EVIDENCE_IDS = "TOO_MANY_EVIDENCE_IDS"
    WARRANT_MISSING = "WARRANT_MISSING"
    TITLE_MISMATCH = "TITLE_MISMATCH"
    SUBJECT_TOKENS_ABSENT = "SUBJECT_TOKENS_ABSENT"
    TOO_MANY_CLAIMS = "TOO_MANY_CLAIMS"
    LAZY_ANCHOR_DEMOTE = "LAZY_ANCHOR_DEMOTE"
    DEFLECTION_DETECTED = "DEFLECTION_DETECTED"
    FORMAT_COLLAPSED = "FORMAT_COLLAPSED"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticePolicy:
    """The thresholds of seed 002; a rule is switched off by name in ``off``.

    A claim proper has ``claim_content_tokens`` words of ``claim_word_letters`` letters, or a number:
    "Tyrannosaurus rex." has one such word, and "BMI is 31." states something.
    """

    allowed_roles: frozenset[str] = ALLOWED_ROLES
    citation_coverage: float = 0.30
    few_tokens: int = 3
    claim_content_tokens: int = 2
    claim_word_letters: int = 4
    pointers_per_claim: int = 2
    claims_per_answer: int = 12
    subject_tokens_absent: int = 3
    lazy_anchor_share: float = 0.5
    lazy_anchor_pairs: int = 3
    collapsed_lines: int = 5
    collapsed_line_characters: int = 20
    warranted_roots: frozenset[str] = frozenset()
    off: frozenset[Kind] = frozenset()


def policy_of(settings: Iterable[str]) -> LatticePolicy:
    """A policy of ``name=value`` lines, lists by commas; ValueError names what cannot be used.

    >>> policy_of(["claims_per_answer=20", "off=TITLE_MISMATCH"]).claims_per_answer
    20
    """
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in LatticePolicy.__dataclass_fields__:
            known = ", ".join(LatticePolicy.__dataclass_fields__)
            raise ValueError(f"{setting}: no such threshold; {known}")
        default = getattr(LatticePolicy(), name)
        listed = [word.strip() for word in value.split(",") if word.strip()]
        if name == "off":
            chosen[name] = frozenset(map(Kind, listed))
        elif isinstance(default, frozenset):
            chosen[name] = frozenset(listed)
        else:
            chosen[name] = type(default)(value)
    return LatticePolicy(**chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """What a rule found; ``claim_index`` is None only for what concerns the answer as a whole."""

    kind: Kind
    claim_index: int | None
    pointer: str | None = None
    evidence_id: str | None = None
    reason: str
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A pointer as the answer wrote it, and the evidence object that it names, if any."""

    pointer: str
    evidence: EvidenceObject | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a rule may look at besides the claim: what it cites, the question, the policy, the form."""

    cited: tuple[Cited, ...]
    question: str | None
    policy: LatticePolicy
    form: str

    @property
    def spans(self) -> tuple[str, ...]:
        """The cited texts, in lower case."""
        return tuple(one.evidence.span.lower() for one in self.cited if one.evidence is not None)


Rule = Callable[[LatticeClaim, Evidence], Violation | None]


def content_tokens(text: str) -> tuple[str, ...]:
    """The distinct content words of three letters and more, and the numbers, in order."""
    found = (word for word in words(text) if is_content_word(word))
    return tuple(dict.fromkeys(word for word in found if len(word) > 2 or word.isdigit()))


def held(token: str, text: str) -> bool:
    """Whether lower-case ``text`` has ``token`` or its stem; numbers only as whole numbers."""
    if token[0].isdigit():
        plain = text.replace(",", "")
        return re.search(rf"(?<![\d.]){re.escape(token)}(?![\d]|\.\d)", plain) is not None
    return token in text or normalised_term(token) in text


# -- one cited object at a time --------------------------------------------------------------------


def unknown_evidence(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """The pointer names nothing that was shown to the model."""
    cited = evidence.cited[0]
    if cited.evidence is not None:
        return None
    reason = f"no evidence is called {cited.pointer}"
    return _violation(Kind.UNKNOWN_EVIDENCE_ID, reason, claim, cited)


def blocked_role(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """The evidence is of a role that claims may not rest on."""
    cited = evidence.cited[0]
    if cited.evidence is None or cited.evidence.source_role in evidence.policy.allowed_roles:
        return None
    role = cited.evidence.source_role
    reason = f"{cited.pointer} is a {role}, which claims may not rest on"
    return _violation(Kind.SOURCE_ROLE_BLOCKED, reason, claim, cited, source_role=role)


def citation_mismatch(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """Too few of the claim's content words are in the cited text; one is enough for a short claim."""
    cited = evidence.cited[0]
    tokens = content_tokens(claim.text)
    if cited.evidence is None or not tokens:
        return None
    span = cited.evidence.span.lower()
    matched = [token for token in tokens if held(token, span)]
    if matched and len(tokens) <= evidence.policy.few_tokens:
        return None
    coverage = len(matched) / len(tokens)
    if coverage >= evidence.policy.citation_coverage:
        return None
    reason = f"{cited.pointer} has {len(matched)} of the claim's {len(tokens)} content words"
    return _violation(
        Kind.CITATION_MISMATCH, reason, claim, cited, coverage=round(coverage, 4), matched=matched
    )


PAIR_RULES: tuple[Rule, ...] = (unknown_evidence, blocked_role, citation_mismatch)


# -- a claim by itself -----------------------------------------------------------------------------


def schema_invalid(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """The claim is not of its form, says nothing, or is a bare name."""
    if claim.malformed is not None:
        return _violation(Kind.SCHEMA_INVALID, claim.malformed, claim)
    if not claim.text.strip():
        return _violation(Kind.SCHEMA_INVALID, "a pointer without a claim", claim)
    tokens, policy = content_tokens(claim.text), evidence.policy
    count = sum(len(token) >= policy.claim_word_letters for token in tokens)
    numbered = any(token[0].isdigit() for token in tokens)
    if claim.pointers and count < policy.claim_content_tokens and not numbered:
        reason = f"a bare name ({count} content words) is no claim: it needs a statement"
        return _violation(Kind.SCHEMA_INVALID, reason, claim)
    return None


def manual_quote(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """A JSON claim types a quotation of its own; pointer lines may repeat a quoted name."""
    if evidence.form != "json" or not any(mark in claim.text for mark in '"“”'):
        return None
    reason = "the claim types a quotation; quotations are put in from the evidence"
    return _violation(Kind.MANUAL_QUOTE_VIOLATION, reason, claim)


def no_pointer(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """The claim cites nothing."""
    if claim.pointers:
        return None
    return _violation(Kind.NO_EVIDENCE_POINTER, "the claim names no evidence", claim)


def too_many_pointers(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """The claim cites more than its share; lines are trimmed to the first, JSON is read whole."""
    limit = evidence.policy.pointers_per_claim
    if len(claim.pointers) <= limit:
        return None
    reason = f"{len(claim.pointers)} pointers on one claim, {limit} are allowed"
    if evidence.form == "json":
        return _violation(
            Kind.TOO_MANY_EVIDENCE_IDS, reason, claim, ids=len(claim.pointers), allowed=limit
        )
    return _violation(
        Kind.POINTER_OVERFLOW_TRIMMED,
        reason,
        claim,
        kept=list(claim.pointers[:limit]),
        dropped=list(claim.pointers[limit:]),
    )


FORM_RULES: tuple[Rule, ...] = (schema_invalid, manual_quote, no_pointer)


# -- a claim with all that it cites ----------------------------------------------------------------

_RELATION = re.compile(
    r"\b(?:who|whom|whose|when|where|which|what (?:year|date|day|month|city|country|person|name|"
    r"company|team|place|number))\b|\bhow (?:many|much|old|long)\b",
    re.I,
)
_NAME = re.compile(
    r"(?<![.!?:] )(?<!\A)\b[A-Z][\w'’-]+(?:[ \t]+(?:of |the |de |van )?[A-Z][\w'’.-]*)*"
)
_OPENING_NAME = re.compile(
    r"\A(?:[A-Z][a-z]{0,3}\.[ \t]+[A-Z][\w'’-]+|[A-Z][\w'’-]+(?=[ \t]+[A-Z]))(?:[ \t]+[A-Z][\w'’.-]*)*"
)
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")


def is_warranted(evidence: Evidence) -> bool:
    """Whether a cited document has a chain of warrants of its own, whatever its words are."""
    return any(
        one.evidence is not None and one.evidence.source_root in evidence.policy.warranted_roots
        for one in evidence.cited
    )


def warrant_missing(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """A relation was asked for, and the name or year given as its answer is in no cited text."""
    question = evidence.question or ""
    if not evidence.spans or _RELATION.search(question) is None:
        return None
    if is_warranted(evidence):
        return None
    names, years = _anchors(claim.text, question)
    text = " ".join(evidence.spans)
    absent = [name for name in names if not _names(name, text)]
    unnamed = absent if names and len(absent) == len(names) else []
    undated = [year for year in years if not held(year, text)]
    missing = [*unnamed, *undated]
    if not missing:
        return None
    reason = f"the cited text does not name {', '.join(missing)}"
    return _violation(Kind.WARRANT_MISSING, reason, claim, missing_anchors=missing)


def _anchors(text: str, question: str) -> tuple[list[str], list[str]]:
    """Names and years that the claim gives and the question does not."""
    asked = question.lower()
    found = [match.group() for match in (*_OPENING_NAME.finditer(text), *_NAME.finditer(text))]
    names = [name for name in found if name.lower().rstrip(".") not in asked]
    return names, [year for year in _YEAR.findall(text) if year not in asked]


def _names(name: str, text: str) -> bool:
    """Whether lower-case ``text`` has the name, or the last word of it (a surname)."""
    last = name.lower().split()[-1].strip(".'’")
    return re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text) is not None


def title_mismatch(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """No cited document's title shares a content word with the claim."""
    claimed = _stems(claim.text)
    titles = [one.evidence.title for one in evidence.cited if one.evidence is not None]
    # A document without a title, or a claim without content words, cannot be off its subject.
    if not claimed or not titles or any(not _stems(title) for title in titles):
        return None
    if any(claimed & _stems(title) for title in titles):
        return None
    reason = f"the claim shares no word with the title of what it cites: {'; '.join(titles)}"
    return _violation(Kind.TITLE_MISMATCH, reason, claim, titles=titles)


def _stems(text: str) -> frozenset[str]:
    return frozenset(normalised_term(token) for token in content_tokens(text.replace("_", " ")))


def subject_tokens_absent(claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    """The claim repeats several of the question's words that the cited text does not have."""
    if not evidence.question or not evidence.spans:
        return None
    asked = _stems(evidence.question)
    text = " ".join(evidence.spans)
    repeated = [token for token in content_tokens(claim.text) if normalised_term(token) in asked]
    absent = [token for token in repeated if not held(token, text)]
    if len(absent) < evidence.policy.subject_tokens_absent:
        return None
    reason = f"the cited text has none of the question's words {', '.join(absent)}"
    return _violation(Kind.SUBJECT_TOKENS_ABSENT, reason, claim, absent_tokens=absent)


CLAIM_RULES: tuple[Rule, ...] = (warrant_missing, title_mismatch, subject_tokens_absent)


def _violation(
    kind: Kind, reason: str, claim: LatticeClaim, cited: Cited | None = None, **details: object
) -> Violation:
    return Violation(
        kind=kind,
        reason=reason,
        claim_index=claim.index,
        pointer=cited.pointer if cited else None,
        evidence_id=cited.evidence.evidence_id if cited and cited.evidence else None,
        details=details,
    )
