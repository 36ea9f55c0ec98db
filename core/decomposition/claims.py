"""III.2: the answer as atomic claims, deterministic and rule-based.

A claim expresses one factual proposition, keeps its literal values exactly, stands alone (its
subject or the heading above it is carried into ``text``), and knows the stretch of the answer that
says it. What claims nothing checkable is returned too, set aside with the reason, so that every
protected value of the answer is in some claim.
"""

from __future__ import annotations

from core.attribution.families import Families, load_families
from core.config import Config
from core.decomposition.bare_answers import claim_bare_answers
from core.decomposition.learned import Chooser, shipped
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
    statements = claim_bare_answers(answer, statements, trace.question)
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
