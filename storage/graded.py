"""The tier and the causes of verdicts, kept beside them so that lists can be narrowed by them."""

from __future__ import annotations

import json

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.codec import verification_from_document
from core.provenance.triage import triage
from core.records import Verification
from storage.tables import Verdict
from storage.triage_tables import VerdictCause, VerdictTier

NO_TIER = "none"  # of an answer without a factual claim


def put_grade(connection: Connection, verdict_id: int, verification: Verification) -> None:
    """Keep the tier and the causes of one verdict."""
    found = triage(verification)
    tier = NO_TIER if found.tier is None else found.tier.value
    connection.execute(insert(VerdictTier).values(verdict_id=verdict_id, tier=tier))
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
        document = connection.execute(
            select(col(Verdict.document)).where(col(Verdict.verdict_id) == verdict_id)
        ).scalar_one()
        assert verdict_id is not None
        put_grade(connection, verdict_id, verification_from_document(json.loads(document)))
