"""The tier, state and causes of verdicts, kept beside them so that lists can be narrowed by them."""

from __future__ import annotations

import json

from sqlalchemy import Connection, insert, select, update
from sqlmodel import col

from core.codec import verification_from_document
from core.provenance.triage import triage
from core.records import Verification, answer_state
from storage.tables import Verdict
from storage.triage_tables import VerdictCause, VerdictTier

NO_TIER = "none"  # of an answer without a factual claim


def put_grade(connection: Connection, verdict_id: int, verification: Verification) -> None:
    """Keep the tier, the state and the causes of one verdict."""
    found = triage(verification)
    tier = NO_TIER if found.tier is None else found.tier.value
    state = answer_state(verification).value
    connection.execute(insert(VerdictTier).values(verdict_id=verdict_id, tier=tier, state=state))
    if found.causes:
        connection.execute(
            insert(VerdictCause),
            [{"verdict_id": verdict_id, "cause": cause} for cause in found.causes],
        )


def fill_grades(connection: Connection) -> None:
    """Keep the grades of the verdicts that were stored before there were any."""
    known = select(col(VerdictTier.verdict_id))
    missing = connection.execute(
        select(col(Verdict.verdict_id)).where(col(Verdict.verdict_id).not_in(known))
    ).scalars()
    for verdict_id in list(missing):
        assert verdict_id is not None
        put_grade(connection, verdict_id, _verification(connection, verdict_id))


def fill_states(connection: Connection) -> None:
    """Keep the states of the verdicts that were stored with a tier alone."""
    missing = connection.execute(
        select(col(VerdictTier.verdict_id)).where(col(VerdictTier.state).is_(None))
    ).scalars()
    for verdict_id in list(missing):
        state = answer_state(_verification(connection, verdict_id)).value
        this = col(VerdictTier.verdict_id) == verdict_id
        connection.execute(update(VerdictTier).where(this).values(state=state))


def _verification(connection: Connection, verdict_id: int) -> Verification:
    document = connection.execute(
        select(col(Verdict.document)).where(col(Verdict.verdict_id) == verdict_id)
    ).scalar_one()
    return verification_from_document(json.loads(document))
