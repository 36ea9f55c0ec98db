"""III.2: the answer as atomic claims, deterministic and rule-based.

A claim expresses one factual proposition, keeps its literal values exactly, and knows the stretch of
the answer that says it; ``context`` is what the answer says before it and a reader of the claim alone
needs. What claims nothing checkable is returned too, set aside with the reason, so that every
protected value of the answer is in some claim.
"""

from __future__ import annotations

from core.attribution.families import Families, load_families
from core.config import Config
from core.decomposition.bare_answers import claim_bare_answers
from core.decomposition.learned import Chooser, shipped
from core.decomposition.statements import read_statements
from core.evidence.values import protected_values
from core.records import Claim, ClaimType, Span, Trace

# What is longer is not judged, and blocks: the work on one claim grows with the square of its length.
# No reader takes in as much as one statement, nor a person so many values (the longest claim of the
# shipped sample has a tenth of it).
MOST_ANSWER = 50_000  # characters
MOST_CHARACTERS = 2_000  # of a claim
MOST_VALUES = 40


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
    if len(answer) > MOST_ANSWER:
        long = f"An answer of {len(answer):,} characters; of more than {MOST_ANSWER:,} nothing is judged."
        return (unread_answer(trace, long),)
    statements = read_statements(trace, answer, families or load_families(), learned or shipped())
    statements = claim_bare_answers(answer, statements, trace.question)
    width = 3 if len(statements) > 99 else 2
    claims, factual = [], 0
    for number, statement in enumerate(statements, start=1):
        is_factual = statement.claim_type is ClaimType.FACTUAL
        factual += is_factual
        values = protected_values(statement.text)
        reason = statement.reason
        beyond = None
        if is_factual:
            beyond = _beyond(len(statement.text), len(values), factual, config)
            reason = beyond or reason
        claims.append(
            Claim(
                claim_id=f"{trace.trace_id}::c{number:0{width}d}",
                text=statement.text,
                context=statement.context,
                span=statement.span,
                said=statement.span.cut(answer),
                claim_type=statement.claim_type,
                stated=statement.stated,
                protected_values=values,
                patient_specific=statement.patient_specific,
                subject=statement.subject,
                reason=reason,
                beyond_limit=beyond is not None,
            )
        )
    return tuple(claims)


def _beyond(characters: int, values: int, factual: int, config: Config) -> str | None:
    """Why a factual claim is not judged; None where it is within the limits."""
    if config.max_claims is not None and factual > config.max_claims:
        return (
            f"The answer makes more than {config.max_claims} factual claims; "
            "this one is past the limit and was not judged."
        )
    if characters > MOST_CHARACTERS:
        return (
            f"One statement of {characters:,} characters; more than {MOST_CHARACTERS:,} "
            "are not judged as one. Say it in several sentences."
        )
    if values > MOST_VALUES:
        return (
            f"One statement of {values} values; more than {MOST_VALUES} are not judged as one. "
            "Say it in several sentences or list lines."
        )
    return None


def unread_answer(trace: Trace, reason: str) -> Claim:
    """The one claim of an answer that is not read, and why."""
    answer = trace.answer or ""
    return Claim(
        claim_id=f"{trace.trace_id}::c01",
        text=answer[:MOST_CHARACTERS],
        span=Span(start=0, end=len(answer)),
        said=answer,
        reason=reason,
        beyond_limit=True,
    )
