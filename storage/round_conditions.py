"""Which claims wait for a calibration round: they are dealt to nobody else, and their verdicts hidden."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, exists, func, select, true
from sqlmodel import col

from storage.review_tables import ClaimRow, QueueRow
from storage.round_tables import (
    CalibrationClaim,
    CalibrationClosing,
    CalibrationLabel,
    CalibrationReader,
    CalibrationRoundRow,
)
from storage.tables import TraceVersion


def open_round(connection: Connection, project_id: int) -> int | None:
    """The round of the project that is being read: its newest, until closed or read by all."""
    newest: int | None = connection.execute(
        select(func.max(col(CalibrationRoundRow.round_id))).where(
            col(CalibrationRoundRow.project_id) == project_id
        )
    ).scalar()
    if newest is None:
        return None
    closed, claims, readers, labels = (
        connection.execute(select(func.count()).where(column == newest)).scalar_one()
        for column in (
            col(CalibrationClosing.round_id),
            col(CalibrationClaim.round_id),
            col(CalibrationReader.round_id),
            col(CalibrationLabel.round_id),
        )
    )
    return None if closed or labels >= claims * readers else newest


def not_in_round(round_id: int | None) -> ColumnElement[bool]:
    """The claim of the queue's row does not wait for that round."""
    if round_id is None:
        return true()
    keys = select(col(CalibrationClaim.claim_key)).where(col(CalibrationClaim.round_id) == round_id)
    return col(QueueRow.claim_key).not_in(keys)


def waits_in_round(connection: Connection, person_id: int, trace_key: str) -> bool:
    """Whether the person has yet to read a claim of that trace in a round that was not closed."""
    found = connection.execute(
        select(1)
        .select_from(CalibrationReader)
        .join(CalibrationClaim, col(CalibrationClaim.round_id) == col(CalibrationReader.round_id))
        .join(ClaimRow, col(ClaimRow.claim_key) == col(CalibrationClaim.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .outerjoin(
            CalibrationLabel,
            (col(CalibrationLabel.round_id) == col(CalibrationReader.round_id))
            & (col(CalibrationLabel.claim_key) == col(CalibrationClaim.claim_key))
            & (col(CalibrationLabel.person_id) == person_id),
        )
        .where(
            col(CalibrationReader.person_id) == person_id,
            col(TraceVersion.trace_key) == trace_key,
            col(CalibrationLabel.label_id).is_(None),
            ~exists().where(col(CalibrationClosing.round_id) == col(CalibrationReader.round_id)),
        )
        .limit(1)
    ).first()
    return found is not None
