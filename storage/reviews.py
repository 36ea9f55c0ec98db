"""Reviews: the review workflow's database, one transaction a write; implements core's ReviewStore.

Inside each write's transaction, under the write lock: the person's roles of this moment, the
project's settings, the assignment, the nonce and the time on screen, then the rows and their event.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, func, select
from sqlmodel import col

from core.errors import Conflict
from core.records import Span
from core.review import leases, voting
from core.review.assignment import (
    NOTHING_ON_SCREEN,
    STALE_PAGE,
    STUCK_DAYS,
    TIE_SLOT,
    check_judgement,
    check_key,
    check_page,
    check_reason,
)
from core.review.items import (
    Draft,
    Held,
    InHand,
    Progress,
    QueueState,
    Reading,
    ReviewItem,
    TieItem,
    Withheld,
)
from core.review.readers import require_reader
from core.review.records import (
    Adjudication,
    Cause,
    Exposure,
    Judgement,
    Person,
    Project,
    Role,
    Signal,
    Vote,
)
from core.review.sampling import shown_order
from storage import assignments, openings, queue
from storage.adjudications import adjudication_of, put_adjudication
from storage.audit import add_row, append_event
from storage.claims import latest_signal
from storage.columns import plain_text
from storage.guidelines import keep_first
from storage.people import allow, person_at
from storage.projects import project_at
from storage.review_tables import Decline, QueueRow
from storage.standing import settle
from storage.store import SqlStore
from storage.votes import current_votes, last_vote, pace, put_vote, votes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews:
    """Implements core.review.ports.ReviewStore on SQLite and PostgreSQL."""

    store: SqlStore

    # ------------------------------------------------------------ reading claims

    def next_item(self, project_id: int, who: Person) -> ReviewItem | None:
        """The claim in the person's hands, or else the next one, now in their hands."""
        now = self.store.now()
        with self.store.database.reading() as connection:
            allow(connection, who, Role.REVIEWER, "review claims")
            project = project_at(connection, project_id)
            held = assignments.held_reading(connection, project_id, who.person_id)
            if held is not None and not leases.half_over(held, project.settings, now):
                return _item(connection, held, who)
        with self.store.database.writing() as connection:
            allow(connection, who, Role.REVIEWER, "review claims")
            project = project_at(connection, project_id)
            assignments.expire(connection, project, who, now=now)
            held = assignments.held_reading(connection, project_id, who.person_id)
            if held is not None:
                assignments.renew(connection, project, held, now=now)
            else:
                held = assignments.take(connection, project, who, now=now)
            if held is None:
                return None
            held = assignments.held_at(connection, project_id, held.assignment_id)
            return _item(connection, held, who)

    def show(self, project_id: int, who: Person, assignment_id: int) -> str:
        """A new nonce for what is being put on screen now; earlier ones are void."""
        with self.store.database.writing() as connection:
            held = self._mine(connection, project_id, who, assignment_id)
            return assignments.mint(connection, held, now=self.store.now())

    def vote(
        self,
        project_id: int,
        who: Person,
        assignment_id: int,
        nonce: str,
        judgement: Judgement,
        *,
        confidence: int | None,
        rationale: str,
        exposures: Sequence[Exposure],
    ) -> Vote:
        """Write a reading; raises Conflict, TooSoon, NotFound, NotAllowed, InputError."""
        judgement = self._checked(project_id, who, assignment_id, judgement, confidence)
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, who, Role.REVIEWER, "vote")
            project = project_at(connection, project_id)
            held = assignments.own(connection, project_id, assignment_id, who)
            voting.check_first(held)
            seconds = check_key(held, nonce, now, project.settings)
            self._still_open(connection, held)
            mine = votes_of(connection, project_id, held.claim_key, person_id=who.person_id)
            before = mine[-1] if mine else None
            answer = voting.Answer(
                judgement=judgement,
                confidence=confidence,
                rationale=rationale,
                exposures=exposures,
                nonce=nonce,
                guideline_version=keep_first(connection, now),
            )
            vote = put_vote(
                connection,
                held,
                voting.first_vote(
                    held,
                    answer,
                    before,
                    latest_signal(connection, held.claim_key),
                    seen_elsewhere=openings.exposures_of(connection, who.person_id, held.claim_key),
                    seconds=seconds,
                ),
                at=now,
                actor=who.name,
                action="vote.revised" if before else "vote.cast",
            )
            assignments.close(connection, held)
            settle(connection, project, held.claim_key)
        return vote

    def reveal(self, project_id: int, who: Person, assignment_id: int) -> Signal | None:
        """What the machine says of the claim; written down as seen.

        Raises NotAllowed before the decision, where the project wants the decision first.
        """
        now = self.store.now()
        with self.store.database.writing() as connection:
            project = project_at(connection, project_id)
            held = self._mine(connection, project_id, who, assignment_id)
            voting.check_reveal(project.settings, decided=_decided(connection, held, who))
            if held.revealed_at is None:
                assignments.mark_revealed(connection, held, now=now)
                append_event(
                    connection,
                    at=now,
                    actor=who.name,
                    action="model.revealed",
                    entity=f"claim {held.claim_key}",
                    detail={"project": project_id, "person": who.person_id, "slot": held.slot},
                )
            return latest_signal(connection, held.claim_key)

    def revise(
        self,
        project_id: int,
        who: Person,
        assignment_id: int,
        nonce: str,
        judgement: Judgement,
        *,
        confidence: int | None,
        rationale: str | None,
        exposures: Sequence[Exposure],
    ) -> Vote:
        """Write what a reviewer says after the machine's view; raises as ``vote`` does."""
        judgement = self._checked(project_id, who, assignment_id, judgement, confidence)
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, who, Role.REVIEWER, "vote")
            project = project_at(connection, project_id)
            held = assignments.own(connection, project_id, assignment_id, who)
            voting.check_second(held)
            check_key(held, nonce, now, project.settings)
            self._still_open(connection, held)
            before = votes_of(connection, project_id, held.claim_key, person_id=who.person_id)[-1]
            answer = voting.Answer(
                judgement=judgement,
                confidence=confidence,
                rationale=rationale,
                exposures=exposures,
                nonce=nonce,
                guideline_version=keep_first(connection, now),
            )
            vote = put_vote(
                connection,
                held,
                voting.vote_after_reveal(held, answer, before),
                at=now,
                actor=who.name,
                action="vote.revised",
            )
            assignments.close(connection, held)
            settle(connection, project, held.claim_key)
        return vote

    def undo(
        self,
        project_id: int,
        who: Person,
        on_screen: int | None = None,
        nonce: str | None = None,
    ) -> ReviewItem | None:
        """The claim of the person's last vote, in their hands again; None without one.

        Raises Conflict once somebody has adjudicated it, and for a page that is out of date: its nonce
        is not the latest of the assignment ``on_screen``, or NOTHING_ON_SCREEN while there is a claim.
        """
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, who, Role.REVIEWER, "take a vote back")
            if on_screen is not None:
                check_page(assignments.own(connection, project_id, on_screen, who), nonce)
            elif nonce == NOTHING_ON_SCREEN and assignments.held_reading(
                connection, project_id, who.person_id
            ):
                raise Conflict(STALE_PAGE)
            project = project_at(connection, project_id)
            for row in last_vote(connection, project_id, who.person_id):
                held = assignments.held_of(connection, project_id, row.claim_key, who.person_id)
                if held is None or held.open:
                    continue
                self._still_open(connection, held)
                assignments.reopen(connection, project, held, now=now)
                append_event(
                    connection,
                    at=now,
                    actor=who.name,
                    action="vote.reopened",
                    entity=f"claim {held.claim_key}",
                    detail={"project": project_id, "slot": held.slot, "from": row.vote_id},
                )
                settle(connection, project, held.claim_key)
                held = assignments.held_at(connection, project_id, held.assignment_id)
                return _item(connection, held, who)
        return None

    def decline(
        self,
        project_id: int,
        who: Person,
        assignment_id: int,
        reason: str,
        nonce: str | None = None,
    ) -> None:
        """Take the claim out of the person's hands, for good; raises InputError without a reason."""
        stated = plain_text(check_reason(reason, "giving a claim back"))
        now = self.store.now()
        with self.store.database.writing() as connection:
            held = self._mine(connection, project_id, who, assignment_id)
            voting.check_decline(held, decided=_decided(connection, held, who))
            check_page(held, nonce)
            add_row(
                connection,
                Decline,
                {
                    "project_id": project_id,
                    "claim_key": held.claim_key,
                    "slot": held.slot,
                    "person_id": who.person_id,
                    "reason": stated,
                    "at": now,
                },
                at=now,
                actor=who.name,
                action="claim.declined",
                entity=f"claim {held.claim_key}",
                detail={"project": project_id, "slot": held.slot},
            )
            assignments.give_back(
                connection,
                project_at(connection, project_id),
                held,
                now=now,
                actor=who.name,
                reason="declined",
            )

    def release(self, project_id: int, who: Person, assignment_id: int, reason: str) -> None:
        """Take a claim out of somebody else's hands; raises NotAllowed, NotFound, Conflict."""
        stated = check_reason(reason, "releasing a claim")
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, who, Role.LEAD, "release somebody else's claim")
            held = assignments.held_at(connection, project_id, assignment_id)
            voting.check_release(held)
            assignments.give_back(
                connection,
                project_at(connection, project_id),
                held,
                now=now,
                actor=who.name,
                reason=stated,
            )

    def in_hands(self, project_id: int, who: Person) -> tuple[InHand, ...]:
        """Every claim that somebody holds, the one that has not moved longest first.

        Raises NotAllowed for anybody who is neither lead nor auditor now.
        """
        with self.store.database.reading() as connection:
            require_reader(person_at(connection, who.person_id), "see who holds which claim")
            return assignments.in_hands(connection, project_id)

    def open_verdict(self, who: Person, content_hash: str, run_key: str) -> Withheld | None:
        """Write down that the person sees this verdict now; or why they must not see it yet."""
        with self.store.database.reading() as connection:
            why = openings.withheld(connection, who.person_id, content_hash)
            if why or openings.seen(connection, who.person_id, content_hash, run_key):
                return why
        with self.store.database.writing() as connection:
            # Asked again: a claim of it may have come into their hands in another tab.
            why = openings.withheld(connection, who.person_id, content_hash)
            if why is None and not openings.seen(connection, who.person_id, content_hash, run_key):
                openings.note(
                    connection,
                    who.person_id,
                    content_hash,
                    run_key,
                    at=self.store.now(),
                    actor=who.name,
                )
            return why

    def save_draft(
        self,
        project_id: int,
        who: Person,
        assignment_id: int,
        draft: Draft,
        nonce: str | None = None,
    ) -> None:
        """Keep what was entered so far; raises NotFound, and Conflict once it is decided."""
        with self.store.database.writing() as connection:
            held = self._mine(connection, project_id, who, assignment_id)
            voting.check_draft(held)
            check_page(held, nonce)
            assignments.put_draft(connection, held, draft, now=self.store.now())

    def load_draft(self, project_id: int, who: Person, assignment_id: int) -> Draft | None:
        """What was entered so far; None when nothing was, or it is somebody else's."""
        with self.store.database.reading() as connection:
            held = assignments.own(connection, project_id, assignment_id, who)
            return assignments.draft_of(connection, held.assignment_id)

    def progress(self, project_id: int, who: Person) -> Progress:
        """How far the project is."""
        with self.store.database.reading() as connection:
            done, in_hand = assignments.count_mine(connection, project_id, who.person_id)
            by_state = {
                QueueState(row[0]): row[1]
                for row in connection.execute(
                    select(col(QueueRow.state), func.count())
                    .where(col(QueueRow.project_id) == project_id)
                    .group_by(col(QueueRow.state))
                )
            }
            seconds = pace(connection, project_id, who.person_id) or pace(
                connection, project_id, None
            )
            return Progress(
                mine_done=done,
                mine_open=in_hand,
                team_done=by_state.get(QueueState.SETTLED, 0),
                total=sum(by_state.values()),
                stuck=assignments.count_stuck(
                    connection, project_id, before=self.store.now() - timedelta(days=STUCK_DAYS)
                ),
                seconds_per_claim=statistics.median(seconds) if seconds else None,
                ties=by_state.get(QueueState.TIED, 0),
                waiting=by_state.get(QueueState.WAITING, 0),
                left_for_me=in_hand + assignments.count_left(connection, project_id, who.person_id),
            )

    # ------------------------------------------------------------ deciding ties

    def next_tie(self, project_id: int, who: Person) -> TieItem | None:
        """The tie in the person's hands, or else the next one, now in their hands."""
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, who, Role.ADJUDICATOR, "adjudicate")
            project = project_at(connection, project_id)
            assignments.expire(connection, project, who, now=now)
            held = assignments.held_tie(connection, project_id, who.person_id)
            if held is not None and not _tied(connection, project, held.claim_key):
                assignments.give_back(
                    connection,
                    project,
                    held,
                    now=now,
                    actor=who.name,
                    reason=voting.AGREE_NOW,
                )
                held = None
            if held is not None:
                assignments.renew(connection, project, held, now=now)
            else:
                held = assignments.take_tie(connection, project, who, now=now)
            if held is None:
                return None
            held = assignments.held_at(connection, project_id, held.assignment_id)
            return _tie(connection, held, who)

    def adjudicate(
        self,
        project_id: int,
        who: Person,
        item: TieItem,
        nonce: str,
        judgement: Judgement,
        *,
        cause: Cause,
        guideline_needs_fix: bool,
        rule: str | None,
        rationale: str,
    ) -> Adjudication:
        """Write what a third person decides; Conflict when a reading changed since it was shown."""
        judgement = self._checked(project_id, who, item.assignment_id, judgement, None)
        now = self.store.now()
        with self.store.database.writing() as connection:
            allow(connection, who, Role.ADJUDICATOR, "adjudicate")
            project = project_at(connection, project_id)
            held = assignments.own(connection, project_id, item.assignment_id, who)
            voting.check_tie(held)
            check_key(held, nonce, now, project.settings)
            shown = tuple(reading.vote_id for reading in item.readings)
            voting.check_shown(
                shown,
                current_votes(connection, project_id, held.claim_key),
                settle(connection, project, held.claim_key),
            )
            done = put_adjudication(
                connection,
                held,
                judgement,
                cause=cause,
                guideline_needs_fix=guideline_needs_fix,
                rule=rule,
                rationale=rationale,
                shown=shown,
                guideline_version=keep_first(connection, now),
                nonce=nonce,
                at=now,
                actor=who.name,
            )
            assignments.close(connection, held)
            settle(connection, project, held.claim_key)
        return done

    # ------------------------------------------------------------ shared

    def _mine(
        self, connection: Connection, project_id: int, who: Person, assignment_id: int
    ) -> Held:
        """The person's own assignment, if they have the role that it needs."""
        held = assignments.own(connection, project_id, assignment_id, who)
        allow(connection, who, leases.role_needed(held), "work on this claim")
        return held

    def _still_open(self, connection: Connection, held: Held) -> None:
        voting.check_not_adjudicated(adjudication_of(connection, held.project_id, held.claim_key))

    def _checked(
        self,
        project_id: int,
        who: Person,
        assignment_id: int,
        judgement: Judgement,
        confidence: int | None,
    ) -> Judgement:
        # A trace may be long, and never changes: read before the write lock is taken.
        with self.store.database.reading() as connection:
            held = assignments.own(connection, project_id, assignment_id, who)
            known = (
                frozenset[str]()
                if judgement.source_id is None
                else assignments.source_ids(connection, held.claim_key)
            )
        plain = None if judgement.source_id is None else plain_text(judgement.source_id)
        checked = Judgement(
            support=judgement.support, source_id=plain, conflation=judgement.conflation
        )
        check_judgement(checked, confidence, known)
        return checked


def _item(connection: Connection, held: Held, who: Person) -> ReviewItem:
    place = assignments.place_of(connection, held.claim_key)
    done, in_hand = assignments.count_mine(connection, held.project_id, who.person_id)
    left = assignments.count_left(connection, held.project_id, who.person_id)
    return ReviewItem(
        assignment_id=held.assignment_id,
        claim_key=held.claim_key,
        claim_id=place.claim_id,
        text=place.text,
        span=Span(start=place.span_start, end=place.span_end),
        trace_id=place.trace_id,
        content_hash=place.content_hash,
        slot=held.slot,
        lease_until=held.lease_until,
        draft=assignments.draft_of(connection, held.assignment_id),
        position=done + 1,
        total=done + in_hand + left,
        reason=held.reason if _decided(connection, held, who) else None,
    )


def _tie(connection: Connection, held: Held, who: Person) -> TieItem:
    place = assignments.place_of(connection, held.claim_key)
    votes = {v.vote_id: v for v in current_votes(connection, held.project_id, held.claim_key)}
    order = shown_order(held.assignment_id, tuple(sorted(votes)))
    return TieItem(
        assignment_id=held.assignment_id,
        claim_key=held.claim_key,
        claim_id=place.claim_id,
        text=place.text,
        span=Span(start=place.span_start, end=place.span_end),
        trace_id=place.trace_id,
        content_hash=place.content_hash,
        lease_until=held.lease_until,
        readings=tuple(
            Reading(
                label=f"Reviewer {number}",
                judgement=votes[vote_id].judgement,
                confidence=votes[vote_id].confidence,
                rationale=votes[vote_id].rationale,
                vote_id=vote_id,
            )
            for number, vote_id in enumerate(order, 1)
        ),
        waiting=queue.count_ties(connection, held.project_id, who.person_id) + 1,
    )


def _tied(connection: Connection, project: Project, claim_key: int) -> bool:
    return settle(connection, project, claim_key) is QueueState.TIED


def _decided(connection: Connection, held: Held, who: Person) -> bool:
    if held.slot == TIE_SLOT:
        return adjudication_of(connection, held.project_id, held.claim_key) is not None
    return bool(votes_of(connection, held.project_id, held.claim_key, person_id=who.person_id))
