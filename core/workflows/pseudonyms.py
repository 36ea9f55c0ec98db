"""Pseudonyms: a packet that leaves the house without the names of those who judged.

The same person has the same pseudonym everywhere in a packet and another one in the next; who it
is stays at home. A name in somebody's own words goes as well. Whoever signs a packet is named.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.records import JsonObject
from core.review.exchange import Evidence
from core.review.items import Guideline
from core.review.preferences import ChosenEdit
from core.review.records import Adjudication, Annotation, Person, ReviewedClaim
from core.workflows.packet_selection import PacketStore

PREFIX = "reviewer-"
_HEXADECIMAL_DIGITS = 8


@dataclass(slots=True, kw_only=True)
class Names:
    """Name → pseudonym, drawn at random when a name is first met; none is ever drawn twice."""

    drawn: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The pseudonym of that name."""
        while name not in self.drawn:
            made = PREFIX + secrets.token_hex(_HEXADECIMAL_DIGITS // 2)
            if made not in self.drawn.values():
                self.drawn[name] = made
        return self.drawn[name]

    def out_of(self, words: str) -> str:
        """The words with every known name replaced, the longest first."""
        known = sorted(self.drawn, key=len, reverse=True)
        if not known:
            return words
        found = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in known))
        return found.sub(lambda match: self.drawn[match.group()], words)

    def out_of_record(self, value: Any) -> Any:
        """A JSON value with every known name replaced in its texts; keys stay."""
        if isinstance(value, str):
            return self.out_of(value)
        if isinstance(value, Mapping):
            return {key: self.out_of_record(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.out_of_record(each) for each in value]
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Pseudonymous:
    """A PacketStore that names nobody; ``user`` is who really exports."""

    store: PacketStore
    user: Person
    names: Names

    @property
    def exporter(self) -> Person:
        """The exporting person under their pseudonym."""
        return replace(self.user, name=self.names.of(self.user.name), email=None)

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose readings are all in."""
        return tuple(map(self._claim, self.store.reviewed()))

    def unfinished(self) -> int:
        """How many claims have a vote, and readings still to come."""
        return self.store.unfinished()

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds a reading or a tie-break of."""
        return self.store.open_claims(person)

    def evidence(self, trace_id: str, content_hash: str, run_key: str | None) -> Evidence:
        """A trace version with the verdict of that run."""
        return self.store.evidence(trace_id, content_hash, run_key)

    def tagged(self, tag: str) -> frozenset[str]:
        """The ids of the traces that have that tag."""
        return self.store.tagged(tag)

    def edits(self, content_hashes: Sequence[str]) -> Mapping[str, Sequence[ChosenEdit]]:
        """The last word on each edit of the repairs of these traces."""
        return {
            key: [replace(edit, reviewer=self.names.of(edit.reviewer)) for edit in edits]
            for key, edits in self.store.edits(content_hashes).items()
        }

    def superseded(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """Judgements that no longer stand, without the names of their readers."""
        yield from map(self.names.out_of_record, self.store.superseded(claims))

    def trail(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """The events of these claims. Their hashes are those of the events at home, with names."""
        yield from map(self.names.out_of_record, self.store.trail(claims))

    def machine_profiles(self) -> Mapping[str, str]:
        """Nothing: no pseudonym is anybody else's."""
        return {}

    def guidelines(self) -> Sequence[Guideline]:
        """The versions of the guideline, without their authors' names."""
        return [
            replace(
                one,
                author=self.names.of(one.author),
                change=self.names.out_of(one.change),
                text=self.names.out_of(one.text),
            )
            for one in self.store.guidelines()
        ]

    def told(self, user: Person, manifest_sha256: str, detail: JsonObject) -> None:
        """Keep the event of the export at home, under the real name."""
        self.store.told(self.user, manifest_sha256, {**detail, "pseudonyms": len(self.names.drawn)})

    def _claim(self, claim: ReviewedClaim) -> ReviewedClaim:
        decided = claim.adjudication
        return replace(
            claim,
            annotations=tuple(map(self._annotation, claim.annotations)),
            adjudication=None if decided is None else self._decided(decided),
        )

    def _annotation(self, said: Annotation) -> Annotation:
        return replace(
            said,
            reviewer=self.names.of(said.reviewer),
            rationale=self.names.out_of(said.rationale),
        )

    def _decided(self, said: Adjudication) -> Adjudication:
        return replace(
            said,
            reviewer=self.names.of(said.reviewer),
            rationale=self.names.out_of(said.rationale),
            rule=None if said.rule is None else self.names.out_of(said.rule),
        )


def pseudonymous(store: PacketStore, user: Person, people: Collection[Person]) -> Pseudonymous:
    """That store without names; everybody whom it knows has a pseudonym from the start."""
    names = Names()
    for person in people:
        names.of(person.name)
        if person.email is not None:
            names.drawn.setdefault(person.email, names.of(person.name))
    return Pseudonymous(store=store, user=user, names=names)
