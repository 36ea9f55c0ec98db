"""Verify a claim lattice against its evidence: one status a claim, every violation, one mode (002)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.citations.evidence_map import EvidenceObject
from core.citations.lattice_parsers import (
    Lattice,
    LatticeClaim,
    parse_json_lattice,
    parse_pointer_lines,
)
from core.citations.lexical import AuditMode
from core.citations.rules import (
    CLAIM_RULES,
    FORM_RULES,
    PAIR_RULES,
    Cited,
    Evidence,
    Kind,
    LatticePolicy,
    Rule,
    Violation,
    content_tokens,
    is_warranted,
    too_many_pointers,
)
from core.text.tokens import normalised_term, words

LINKED, PARTLY_LINKED = "EVIDENCE_LINKED", "EVIDENCE_LINKED_PARTIAL"
_PRIORITY = {kind: place for place, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStatus:
    """What became of one claim: linked, partly linked, or its gravest violation."""

    claim_index: int
    text: str
    pointer_ids: tuple[str, ...]
    linked_pointer_ids: tuple[str, ...]
    evidence_ids: tuple[str, ...]
    status: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeAudit:
    """A verified lattice; ``pairs`` counts a claim without pointer as one pair that failed."""

    form: str
    mode: AuditMode
    pairs: int
    verified_pairs: int
    claims: tuple[ClaimStatus, ...]
    violations: tuple[Violation, ...]
    rendered: str
    lazy_anchor_ratio: float
    fixups: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    warranted: tuple[int, ...] = ()  # claims whose evidence has a chain of warrants of its own

    @property
    def unverified(self) -> tuple[str, ...]:
        """The claims that no evidence is linked to."""
        return tuple(one.text for one in self.claims if one.status not in (LINKED, PARTLY_LINKED))


def verify_lattice(
    answer: str | bytes,
    evidence: Sequence[EvidenceObject],
    *,
    form: str = "auto",
    question: str | None = None,
    policy: LatticePolicy | None = None,
) -> LatticeAudit:
    """Parse an answer as ``json`` or ``pointer_lines`` and check every claim with the same rules."""
    policy = policy or LatticePolicy()
    lattice = _parsed(answer, form)
    by_pointer = {one.pointer: one for one in evidence}
    statuses: list[ClaimStatus] = []
    violations: list[Violation] = []
    warranted: list[int] = []
    pairs = 0
    if lattice.malformed is not None:
        violations.append(_of_answer(Kind.SCHEMA_INVALID, lattice.malformed))
    for claim in lattice.claims:
        cited = tuple(Cited(pointer=one, evidence=by_pointer.get(one)) for one in claim.pointers)
        every = Evidence(cited=cited, question=question, policy=policy, form=lattice.form)
        status, found = _verified(claim, every)
        if status.linked_pointer_ids and is_warranted(every):
            warranted.append(claim.index)
        statuses.append(status)
        violations += found
        pairs += max(1, len(claim.pointers))
    rendered = _rendered(statuses, by_pointer)
    violations += _of_whole(lattice, answer, statuses, len(evidence), question, policy)
    linked = sum(len(status.linked_pointer_ids) for status in statuses)
    return LatticeAudit(
        form=lattice.form,
        mode=_mode(statuses, violations, linked),
        pairs=pairs,
        verified_pairs=linked,
        claims=tuple(statuses),
        violations=tuple(violations),
        rendered=rendered,
        lazy_anchor_ratio=round(_lazy_anchor(statuses)[0], 4),
        fixups=lattice.fixups,
        dropped=lattice.dropped,
        warranted=tuple(warranted),
    )


def _parsed(answer: str | bytes, form: str) -> Lattice:
    text = answer if isinstance(answer, str) else answer.decode("utf-8", errors="replace")
    if form == "auto":
        looks = re.search(r'[{\[]\s*(?:["“\'{]|claims\b)', text)
        form = "json" if looks and not re.search(r"\[\s*E\d+", text[: looks.start()]) else "lines"
    return parse_json_lattice(answer) if form == "json" else parse_pointer_lines(text)


def _verified(claim: LatticeClaim, every: Evidence) -> tuple[ClaimStatus, list[Violation]]:
    """One claim's status and violations; what is wrong with its form keeps it from being checked."""
    for rule in FORM_RULES:
        violation = _run(rule, claim, every)
        if violation is not None:
            return _status(claim, (), [violation]), [violation]
    overflow = _run(too_many_pointers, claim, every)
    found = [overflow] if overflow else []
    pairs = every.cited
    if overflow and overflow.kind is Kind.POINTER_OVERFLOW_TRIMMED:
        pairs = pairs[: every.policy.pointers_per_claim]
    linked: list[Cited] = []
    failed: list[Violation] = []
    for pair in pairs:
        alone = replace(every, cited=(pair,))
        wrong = next((v for rule in PAIR_RULES if (v := _run(rule, claim, alone))), None)
        if wrong is None:
            linked.append(pair)
        else:
            failed.append(wrong)
    found += failed
    if linked:
        resolved = replace(every, cited=tuple(linked))
        found += [v for rule in CLAIM_RULES if (v := _run(rule, claim, resolved))]
    return _status(claim, tuple(linked), failed, found), found


def _run(rule: Rule, claim: LatticeClaim, evidence: Evidence) -> Violation | None:
    violation = rule(claim, evidence)
    return None if violation is None or violation.kind in evidence.policy.off else violation


def _status(
    claim: LatticeClaim,
    linked: tuple[Cited, ...],
    failed: Sequence[Violation],
    found: Sequence[Violation] = (),
) -> ClaimStatus:
    if linked:
        status = PARTLY_LINKED if failed else LINKED
    else:
        status = min((v.kind for v in failed), key=_PRIORITY.__getitem__).value
    ordered = sorted(found or failed, key=lambda v: _PRIORITY[v.kind])
    return ClaimStatus(
        claim_index=claim.index,
        text=claim.text,
        pointer_ids=claim.pointers,
        linked_pointer_ids=tuple(one.pointer for one in linked),
        evidence_ids=tuple(one.evidence.evidence_id for one in linked if one.evidence),
        status=status,
        reasons=tuple(dict.fromkeys(v.kind.value for v in ordered)),
    )


# -- the answer as a whole -------------------------------------------------------------------------


def _of_whole(
    lattice: Lattice,
    answer: str | bytes,
    statuses: Sequence[ClaimStatus],
    offered: int,
    question: str | None,
    policy: LatticePolicy,
) -> list[Violation]:
    checks = (
        _too_many(lattice, policy),
        _lazy(statuses, offered, policy),
        _deflected(question, statuses),
        _collapsed(lattice, answer, policy),
    )
    return [found for found in checks if found is not None and found.kind not in policy.off]


def _too_many(lattice: Lattice, policy: LatticePolicy) -> Violation | None:
    if len(lattice.claims) <= policy.claims_per_answer:
        return None
    reason = f"{len(lattice.claims)} claims, {policy.claims_per_answer} are allowed"
    return _of_answer(Kind.TOO_MANY_CLAIMS, reason)


def _lazy(statuses: Sequence[ClaimStatus], offered: int, policy: LatticePolicy) -> Violation | None:
    """One pointer of several carries half of three linked pairs or more."""
    share, pointer, total = _lazy_anchor(statuses)
    if offered < 2 or total < policy.lazy_anchor_pairs or share < policy.lazy_anchor_share:
        return None
    reason = f"{pointer} carries {round(share * total)} of {total} linked pairs"
    return _of_answer(Kind.LAZY_ANCHOR_DEMOTE, reason, pointer)


def _lazy_anchor(statuses: Sequence[ClaimStatus]) -> tuple[float, str, int]:
    counts = Counter(pointer for status in statuses for pointer in status.linked_pointer_ids)
    total = sum(counts.values())
    if not total:
        return 0.0, "", 0
    pointer, most = counts.most_common(1)[0]
    return most / total, pointer, total


_VALUE_WORDS = frozenset(
    """age amount city company country date day month name number percentage person place price
    rate team time title value word year""".split()
)
_ASKED_NOUN = re.compile(r"\b(?:what|which)\s+([a-z]+)", re.I)


def subject_anchor(question: str) -> str | None:
    """The word that an answer to ``question`` must take up, None when it has no such word.

    It is the noun behind "what" or "which", unless answers stand in its place (a year, a name);
    else the last content word.
    """
    tokens = content_tokens(question)
    asked = _ASKED_NOUN.search(question)
    noun = asked[1].lower() if asked else ""
    if noun in tokens and noun not in _VALUE_WORDS:
        return noun
    return tokens[-1] if tokens and tokens[-1] not in _VALUE_WORDS else None


def _deflected(question: str | None, statuses: Sequence[ClaimStatus]) -> Violation | None:
    """The claims take up other words of the question and leave out the one that it turns on."""
    said = [status.text for status in statuses if status.linked_pointer_ids]
    anchor = subject_anchor(question) if question else None
    if not said or anchor is None or question is None:
        return None
    terms = {normalised_term(word) for text in said for word in words(text)}
    joined = "".join("".join(words(text)) for text in said)
    others = [token for token in content_tokens(question) if token != anchor]
    shared = [token for token in others if normalised_term(token) in terms]
    if normalised_term(anchor) in terms or normalised_term(anchor) in joined or not shared:
        return None
    reason = f"the question is about {anchor}, and no linked claim mentions it"
    return _of_answer(Kind.DEFLECTION_DETECTED, reason)


def _collapsed(lattice: Lattice, answer: str | bytes, policy: LatticePolicy) -> Violation | None:
    if lattice.form == "json" or not isinstance(answer, str):
        return None
    lines = [
        line for line in answer.splitlines() if len(line.strip()) > policy.collapsed_line_characters
    ]
    if len(lines) < policy.collapsed_lines or re.search(r"\[\s*E\d", answer):
        return None
    return _of_answer(Kind.FORMAT_COLLAPSED, f"{len(lines)} lines of prose and not one pointer")


def _of_answer(kind: Kind, reason: str, pointer: str | None = None) -> Violation:
    return Violation(kind=kind, reason=reason, claim_index=None, pointer=pointer)


def _mode(
    statuses: Sequence[ClaimStatus], violations: Sequence[Violation], linked: int
) -> AuditMode:
    resolving = [status for status in statuses if status.linked_pointer_ids]
    if not linked or all(Kind.TITLE_MISMATCH.value in one.reasons for one in resolving):
        return AuditMode.UNGROUNDED
    return AuditMode.HYBRID if violations else AuditMode.STRICT


def _rendered(statuses: Sequence[ClaimStatus], by_pointer: dict[str, EvidenceObject]) -> str:
    """The linked claims, each with the evidence that it points at, word for word."""

    def lines() -> Iterator[str]:
        for status in statuses:
            if status.linked_pointer_ids:
                yield status.text
                for pointer in status.linked_pointer_ids:
                    yield f'  [{pointer}] "{by_pointer[pointer].span.strip()}"'

    return "\n".join(lines())
