"""The reviewed claims of the project, read once for each state of the database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from core.review.agreement import Basis, Grouping, Question
from core.review.records import Person, Project, ReviewedClaim
from core.workflows.agreement import AgreementView, read_agreement
from pages.widgets.session import open_store
from storage.packets import Packets
from storage.projects import Projects
from storage.store import SqlStore
from storage.trail import Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPackets(Packets):
    """Packets whose reviewed claims are kept until anything at all happens in the database."""

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose readings are all in."""
        # Who asks makes no difference to what is read.
        anybody = replace(self.store, actor="")
        return _reviewed(anybody, self.project, Trail(store=self.store).length())


def packets_for(who: Person) -> Packets:
    """The packets of the project that ``who`` works in; raises StoreError."""
    store = open_store(who)
    return CachedPackets(store=store, project=Projects(store=store).default())


def agreement_for(
    packets: Packets, who: Person, question: Question, basis: Basis, grouping: Grouping
) -> AgreementView:
    """The agreement on one question, as ``who`` may see it; raises NotAllowed."""
    events = Trail(store=packets.store).length()
    return _agreement(packets, who, question, basis, grouping, events)


@lru_cache(maxsize=32)
def _agreement(
    packets: Packets,
    who: Person,
    question: Question,
    basis: Basis,
    grouping: Grouping,
    events: int,
) -> AgreementView:
    # Intervals take a second where many claims were read: choosing another row must not ask again.
    return read_agreement(packets, who, question, basis=basis, grouping=grouping)


@lru_cache(maxsize=2)
def _reviewed(store: SqlStore, project: Project, events: int) -> tuple[ReviewedClaim, ...]:
    # Every vote, tie-break, setting and import is an event: with their number the answer is the same.
    return Packets(store=store, project=project).reviewed()
