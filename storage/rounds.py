"""Rounds: agreement rounds of a project, begun and closed by a lead, read once by each annotator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, exists, func, select
from sqlmodel import col

from core.errors import Conflict, InputError, NotAllowed, NotFound
from core.records import Span
from core.review.assignment import check_judgement, check_passages
from core.review.items import QueueState
from core.review.readers import require_reader
from core.review.records import Judgement, Person, Role
from core.review.rounds import (
    CLAIMS,
    AgreementRound,
    AnnotatorOfRound,
    Candidate,
    RoundItem,
    RoundLabel,
    check_round,
    draw,
)
from storage import tables
from storage.annotations import judgement_columns, judgement_of
from storage.audit import add_row, add_rows
from storage.columns import plain_text, read_as
from storage.guidelines import keep_first
from storage.people import allow, people, person_at
from storage.projects import project_at
from storage.queue import open_round
from storage.store import SqlStore
from storage.tables import (
    PROJECT,
    SHOWN_NAME,
    ClaimRow,
    PersonRow,
    QueueRow,
    TraceVersion,
    VerdictOpening,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The agreement rounds of a store."""

    store: SqlStore

    # ------------------------------------------------------------ a lead's

    def candidates(self, annotators: Sequence[Person]) -> tuple[Candidate, ...]:
        """The claims that a round of these annotators may take."""
        with self.store.database.reading() as connection:
            return _candidates(connection, annotators)

    def begin(
        self,
        annotators: Sequence[Person],
        *,
        by: Person,
        count: int = CLAIMS,
        chosen: Sequence[int] = (),
    ) -> int:
        """Begin a round of ``chosen`` claims (keys), else of ``count`` that are drawn; its number.

        Raises NotAllowed for anybody but a lead, Conflict while another round is read, InputError.
        """
        check_round(annotators, len(chosen) or count)
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "begin an agreement round")
            for each in annotators:
                allow(connection, each, Role.REVIEWER, "read in an agreement round")
            if open_round(connection) is not None:
                raise Conflict("a round is being read: close it before the next one begins")
            number = 1 + _newest_number(connection)
            project_id = project_at(connection).project_id
            found = {each.claim_key: each for each in _candidates(connection, annotators)}
            claims = [found[key] for key in chosen if key in found]
            if len(claims) < len(chosen):
                raise Conflict("somebody began one of these claims meanwhile; reloaded")
            claims = claims or list(draw(found.values(), number, count))
            if not claims:
                raise InputError(
                    "no claim is left that nobody has begun and no annotator knows", path="claims"
                )
            told: dict[str, Any] = {"at": now, "actor": by.name, "entity": f"round {number}"}
            round_id = add_row(
                connection,
                tables.AgreementRoundRow,
                {
                    "number": number,
                    "guideline_version": keep_first(connection, now),
                    "person_id": by.person_id,
                    "at": now,
                },
                action="round.begun",
                detail={"project": project_id, "claims": len(claims), "drawn": not chosen},
                **told,
            )
            add_rows(
                connection,
                tables.RoundClaimRow,
                [
                    {"round_id": round_id, "claim_key": each.claim_key, "place": place}
                    for place, each in enumerate(claims, 1)
                ],
                action="round.claims",
                **told,
            )
            add_rows(
                connection,
                tables.RoundAnnotator,
                [{"round_id": round_id, "person_id": each.person_id} for each in annotators],
                action="round.readers",
                **told,
            )
            return number

    def close(self, *, by: Person) -> None:
        """Close the round that is being read (lead); what was read stays. Raises Conflict."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "close an agreement round")
            round_id = open_round(connection)
            if round_id is None:
                raise Conflict("no round is being read")
            add_row(
                connection,
                tables.RoundClosingRow,
                {"round_id": round_id, "person_id": by.person_id, "at": self.store.now()},
                at=self.store.now(),
                actor=by.name,
                action="round.closed",
                entity=f"round {_number(connection, round_id)}",
            )

    # ------------------------------------------------------------ an annotator's

    def next_item(self, annotator: Person) -> RoundItem | None:
        """The next claim of the round that is being read; None: nothing there is left for them."""
        with self.store.database.reading() as connection:
            round_id = open_round(connection)
            return None if round_id is None else _next(connection, round_id, annotator.person_id)

    def label(
        self,
        item: RoundItem,
        judgement: Judgement,
        *,
        by: Person,
        rationale: str = "",
        seconds: float,
    ) -> None:
        """Keep what the annotator says of that claim: once, whatever is pressed.

        Raises NotAllowed, InputError, and Conflict for what was read already or is closed.
        """
        trace = self.store.get_trace(item.trace_id, item.content_hash).trace
        judgement = replace(judgement, correction=plain_text(judgement.correction).strip())
        texts = {each.source_id: each.text for each in trace.sources}
        check_judgement(judgement, None, texts)
        check_passages(judgement, texts)
        with self.store.database.writing() as connection:
            allow(connection, by, Role.REVIEWER, "read in an agreement round")
            now = _next(connection, item.round_id, by.person_id)
            closed = connection.execute(
                select(1).where(col(tables.RoundClosingRow.round_id) == item.round_id)
            ).first()
            if closed or now is None or now.claim_key != item.claim_key:
                raise Conflict("nothing written: this claim was read already, or its round closed")
            add_row(
                connection,
                tables.RoundLabelRow,
                {
                    "round_id": item.round_id,
                    "claim_key": item.claim_key,
                    "person_id": by.person_id,
                    **judgement_columns(judgement),
                    "rationale": plain_text(rationale),
                    "seconds": seconds,
                    "guideline_version": keep_first(connection, self.store.now()),
                    "at": self.store.now(),
                },
                at=self.store.now(),
                actor=by.name,
                action="round.label",
                entity=f"claim {item.claim_key}",
                detail={"round": item.number, "place": item.position},
            )

    # ------------------------------------------------------------ what came of it

    def all(self) -> tuple[AgreementRound, ...]:
        """The rounds of the project, the first first."""
        with self.store.database.reading() as connection:
            return _rounds(connection)

    def labels(self, one: AgreementRound, viewer: Person) -> tuple[RoundLabel, ...]:
        """What was said in that round.

        Raises NotAllowed for anybody but leads and auditors, and while the viewer reads it still.
        """
        with self.store.database.reading() as connection:
            require_reader(person_at(connection, viewer.person_id), "see how far annotators agree")
            mine = [each for each in one.annotators if each.person_id == viewer.person_id]
            if one.closed_at is None and any(each.done < one.claims for each in mine):
                raise NotAllowed("you read this round yourself: what others said comes after that")
            return _labels(connection, one.round_id)


def _candidates(connection: Connection, annotators: Sequence[Person]) -> tuple[Candidate, ...]:
    known = exists().where(
        col(VerdictOpening.position) == col(ClaimRow.position),
        col(VerdictOpening.person_id).in_([each.person_id for each in annotators]),
    )
    rows = connection.execute(
        select(
            col(ClaimRow.claim_key),
            col(ClaimRow.claim_id),
            col(ClaimRow.text),
            col(TraceVersion.trace_id),
        )
        .join(QueueRow, col(QueueRow.claim_key) == col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where(
            col(QueueRow.project_id) == PROJECT,
            col(QueueRow.state) == QueueState.WAITING.value,
            ~exists().where(col(tables.RoundClaimRow.claim_key) == col(ClaimRow.claim_key)),
            ~known,
        )
        .order_by(col(ClaimRow.claim_key))
    )
    return tuple(read_as(Candidate, row) for row in rows)


def _next(connection: Connection, round_id: int, person_id: int) -> RoundItem | None:
    claim = tables.RoundClaimRow
    reads = connection.execute(
        select(1).where(
            col(tables.RoundAnnotator.round_id) == round_id,
            col(tables.RoundAnnotator.person_id) == person_id,
        )
    ).first()
    if reads is None:
        return None
    read = exists().where(
        col(tables.RoundLabelRow.round_id) == round_id,
        col(tables.RoundLabelRow.claim_key) == col(claim.claim_key),
        col(tables.RoundLabelRow.person_id) == person_id,
    )
    row = connection.execute(
        select(
            col(claim.place),
            col(ClaimRow.claim_key),
            col(ClaimRow.claim_id),
            col(ClaimRow.text),
            col(ClaimRow.span_start),
            col(ClaimRow.span_end),
            col(TraceVersion.trace_id),
            col(TraceVersion.content_hash),
        )
        .select_from(claim)
        .join(ClaimRow, col(ClaimRow.claim_key) == col(claim.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where(col(claim.round_id) == round_id, ~read)
        .order_by(col(claim.place))
        .limit(1)
    ).first()
    if row is None:
        return None
    return RoundItem(
        round_id=round_id,
        number=_number(connection, round_id),
        position=row.place,
        total=_count(connection, claim, round_id),
        span=Span(start=row.span_start, end=row.span_end),
        **{name: row._mapping[name] for name in _SHOWN},
    )


_SHOWN = ("claim_key", "claim_id", "text", "trace_id", "content_hash")


def _number(connection: Connection, round_id: int) -> int:
    number: int | None = connection.execute(
        select(col(tables.AgreementRoundRow.number)).where(
            col(tables.AgreementRoundRow.round_id) == round_id
        )
    ).scalar()
    if number is None:
        raise NotFound(f"no agreement round {round_id}")
    return number


def _newest_number(connection: Connection) -> int:
    return connection.execute(select(func.max(col(tables.AgreementRoundRow.number)))).scalar() or 0


def _count(connection: Connection, table: Any, round_id: int) -> int:
    return connection.execute(
        select(func.count()).select_from(table).where(table.__table__.c.round_id == round_id)
    ).scalar_one()


def _rounds(connection: Connection) -> tuple[AgreementRound, ...]:
    one, closing = tables.AgreementRoundRow, tables.RoundClosingRow
    rows: Sequence[Any] = connection.execute(
        select(one.__table__, col(closing.at).label("closed_at"))  # type: ignore[attr-defined]
        .outerjoin(closing, col(closing.round_id) == col(one.round_id))
        .order_by(col(one.number))
    ).all()
    names = {each.person_id: each.shown for each in people(connection)}
    return tuple(
        AgreementRound(
            round_id=row.round_id,
            number=row.number,
            claims=_count(connection, tables.RoundClaimRow, row.round_id),
            guideline_version=row.guideline_version,
            by=names[row.person_id],
            at=row.at,
            annotators=_annotators(connection, row.round_id, names),
            closed_at=row.closed_at,
        )
        for row in rows
    )


def _annotators(
    connection: Connection, round_id: int, names: dict[int, str]
) -> tuple[AnnotatorOfRound, ...]:
    annotator, label = tables.RoundAnnotator, tables.RoundLabelRow
    rows = connection.execute(
        select(col(annotator.person_id), func.count(col(label.label_id)).label("done"))
        .outerjoin(
            label,
            (col(label.round_id) == col(annotator.round_id))
            & (col(label.person_id) == col(annotator.person_id)),
        )
        .where(col(annotator.round_id) == round_id)
        .group_by(col(annotator.person_id))
        .order_by(col(annotator.person_id))
    )
    return tuple(
        AnnotatorOfRound(person_id=row.person_id, name=names[row.person_id], done=row.done)
        for row in rows
    )


def _labels(connection: Connection, round_id: int) -> tuple[RoundLabel, ...]:
    label = tables.RoundLabelRow
    rows: Sequence[Any] = connection.execute(
        select(
            label.__table__,  # type: ignore[attr-defined]
            col(ClaimRow.claim_id),
            col(ClaimRow.text),
            col(TraceVersion.trace_id),
            col(TraceVersion.content_hash),
            SHOWN_NAME.label("annotator"),
        )
        .join(ClaimRow, col(ClaimRow.claim_key) == col(label.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .join(PersonRow, col(PersonRow.person_id) == col(label.person_id))
        .where(col(label.round_id) == round_id)
        .order_by(col(label.label_id))
    ).all()
    return tuple(
        RoundLabel(
            **{name: row._mapping[name] for name in _SHOWN},
            annotator=row.annotator,
            judgement=judgement_of(row),
            rationale=row.rationale,
            at=row.at,
        )
        for row in rows
    )
