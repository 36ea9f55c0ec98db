"""The reviewed claims of the project, read once for each state of the database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from core.review.agreement_records import Basis, Grouping, Question
from core.review.records import Person, ReviewedClaim
from core.workflows.agreement import AgreementView, read_agreement
from pages.widgets.session import open_workspace
from storage.packets import Packets


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPackets(Packets):
    """Packets whose reviewed claims are kept until anything at all happens in the database."""

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose annotations are all in."""
        # Who asks makes no difference to what is read.
        anybody = replace(self.store, actor="")
        return _reviewed(replace(self, store=anybody), self.events())


def packets_for(who: Person) -> Packets:
    """The packets of the project that ``who`` works in; raises StoreError."""
    workspace = open_workspace(who)
    return CachedPackets(store=workspace.store, project=workspace.project())


def agreement_for(
    packets: Packets, who: Person, question: Question, basis: Basis, grouping: Grouping
) -> AgreementView:
    """The agreement on one question, as ``who`` may see it; raises NotAllowed."""
    return _agreement(packets, who, question, basis, grouping, packets.events())


@dataclass(frozen=True, slots=True, kw_only=True)
class _NamedPackets(Packets):
    """The same with people as pages call them."""

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose annotations are all in."""
        claims = CachedPackets(store=self.store, project=self.project).reviewed()
        names = open_workspace().people.shown_names()
        if not names:
            return claims

        def named(said: Any) -> Any:
            return replace(said, reviewer=names.get(said.reviewer, said.reviewer))

        return tuple(
            replace(
                claim,
                annotations=tuple(named(each) for each in claim.annotations),
                adjudication=claim.adjudication and named(claim.adjudication),
            )
            for claim in claims
        )


@lru_cache(maxsize=32)
def _agreement(
    packets: Packets, who: Person, question: Question, basis: Basis, grouping: Grouping, events: int
) -> AgreementView:
    # Intervals take a second where many claims were read: choosing another row must not ask again.
    named = _NamedPackets(store=packets.store, project=packets.project)
    who = replace(who, name=who.shown)
    return read_agreement(named, who, question, basis=basis, grouping=grouping)


@lru_cache(maxsize=2)
def _reviewed(packets: CachedPackets, events: int) -> tuple[ReviewedClaim, ...]:
    # Every vote, tie-break, setting and import is an event: with their number the answer is the same.
    return Packets.reviewed(packets)
