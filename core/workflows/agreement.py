"""read_agreement: how well the annotators of a project agree, for those who may know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.review.agreement import (
    agreement_with_groups,
    agreement_with_machine,
    agreement_with_pre_labels,
    reveal_effect,
)
from core.review.agreement_records import (
    AgreementFigures,
    Basis,
    GroupAgreement,
    Grouping,
    Question,
    RevealEffect,
)
from core.review.pre_labels import PreLabel
from core.review.readers import readable_by, require_reader
from core.review.records import Person, ReviewedClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementView:
    """One question answered for one viewer; ``claims`` are those they may see, by their key.

    ``kept_back`` counts claims that the viewer still has to judge, ``unfinished`` those with annotations
    to come: neither is in any figure.
    """

    people: AgreementFigures
    groups: tuple[GroupAgreement, ...]
    machine: AgreementFigures
    pre_labels: AgreementFigures
    reveal: RevealEffect
    claims: Mapping[int, ReviewedClaim]
    kept_back: int
    unfinished: int


class AgreementStore(Protocol):
    """What agreement asks of a database."""

    def reviewed(self) -> Sequence[ReviewedClaim]:
        """The claims whose annotations are all in."""

    def pre_labels(self) -> Mapping[int, PreLabel]:
        """What two judges said, by the key of the claim."""

    def unfinished(self) -> int:
        """How many claims have an annotation, and annotations still to come."""

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds an annotation or a tie-break of."""


def read_agreement(
    store: AgreementStore,
    user: Person,
    question: Question,
    *,
    basis: Basis = Basis.INDEPENDENT,
    grouping: Grouping = Grouping.PAIR,
) -> AgreementView:
    """The agreement on one question, as a whole and by group; raises NotAllowed."""
    require_reader(user, "see how far reviewers agree")
    readable = readable_by(user, store.reviewed(), store.open_claims(user))
    claims = readable.claims
    people, groups = agreement_with_groups(claims, question, grouping, basis=basis)
    return AgreementView(
        people=people,
        groups=groups,
        machine=agreement_with_machine(claims, question),
        pre_labels=agreement_with_pre_labels(claims, store.pre_labels(), question),
        reveal=reveal_effect(claims),
        claims={claim.claim_key: claim for claim in claims},
        kept_back=readable.kept_back,
        unfinished=store.unfinished(),
    )
