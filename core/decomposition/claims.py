"""III.2: the answer as atomic claims, deterministic and rule-based.

A claim expresses one factual proposition, keeps its literal values exactly, stands alone (its
subject or the heading above it is carried into ``text``), and knows the stretch of the answer that
says it. What claims nothing checkable is returned too, set aside with the reason, so that every
protected value of the answer is in some claim.
"""

from __future__ import annotations

import re
from dataclasses import replace

from core.attribution.families import Families, load_families
from core.config import Config
from core.decomposition.learned import Chooser, shipped
from core.decomposition.markdown import plain
from core.decomposition.sentences import Statement
from core.decomposition.statements import read_statements
from core.evidence.values import protected_values
from core.records import Claim, ClaimType, Trace


def decompose(
    trace: Trace,
    config: Config,
    families: Families | None = None,
    learned: Chooser | None = None,
) -> tuple[Claim, ...]:
    """The claims of a trace's answer in order (III.2); none when there is no answer text.

    ``learned`` stands for the fitted models that ship. Where ``config.max_claims`` sets a limit,
    factual claims past it carry ``beyond_limit`` and why.
    """
    answer = trace.answer or ""
    if not answer.strip():
        return ()
    statements = read_statements(trace, answer, families or load_families(), learned or shipped())
    statements = _bare_answers(statements, trace.question)
    width = 3 if len(statements) > 99 else 2
    claims, factual = [], 0
    for number, statement in enumerate(statements, start=1):
        factual += statement.claim_type is ClaimType.FACTUAL
        past = config.max_claims is not None and factual > config.max_claims
        beyond = statement.claim_type is ClaimType.FACTUAL and past
        reason = statement.reason
        if beyond:
            reason = (
                f"The answer makes more than {config.max_claims} factual claims; "
                "this one is past the limit and was not judged."
            )
        claims.append(
            Claim(
                claim_id=f"{trace.trace_id}::c{number:0{width}d}",
                text=statement.text,
                span=statement.span,
                said=statement.span.cut(answer),
                claim_type=statement.claim_type,
                stated=statement.stated,
                protected_values=protected_values(statement.text),
                patient_specific=statement.patient_specific,
                subject=statement.subject,
                reason=reason,
                beyond_limit=beyond,
            )
        )
    return tuple(claims)


def _bare_answers(statements: list[Statement], question: str) -> list[Statement]:
    """A lone "No." claims what was asked; before statements that say it, it claims nothing more."""
    bare = [
        re.fullmatch(r"(?i)(?:yes|no|correct|none|true|false)[.!]*", each.text)
        for each in statements
    ]
    others = any(
        each.claim_type is ClaimType.FACTUAL and not match
        for each, match in zip(statements, bare, strict=True)
    )
    found = []
    for each, match in zip(statements, bare, strict=True):
        if match is None or each.claim_type is not ClaimType.FACTUAL:
            found.append(each)
        elif others:
            reason = "A bare answer: the statements beside it say what it means."
            found.append(replace(each, claim_type=ClaimType.META, reason=reason))
        else:
            found.append(replace(each, text=f"{plain(question)} {each.text}".strip()))
    return found
