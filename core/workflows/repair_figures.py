"""repair_figures: what the stored repairs did, all together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from core.records import RepairOutcome
from core.workflows.repair_report import RepairReport

# A repair never changes, so it is counted once in a process: its document's hash → its figures.
_COUNTED: dict[str, RepairReport] = {}


class RepairStore(Protocol):
    """A store that gives the last repair of each trace version."""

    def latest_digests(self) -> Mapping[int, str]:
        """Its id and the hash of its document."""
        ...

    def outcomes(self, repair_ids: Sequence[int]) -> Iterator[tuple[int, RepairOutcome]]:
        """Those repairs."""
        ...


def repair_figures(store: RepairStore) -> RepairReport:
    """What the last repair of each trace version did."""
    digests = store.latest_digests()
    new = [repair_id for repair_id, digest in digests.items() if digest not in _COUNTED]
    for repair_id, outcome in store.outcomes(new):
        counted = RepairReport()
        counted.add(outcome)
        _COUNTED[digests[repair_id]] = counted
    whole = RepairReport()
    for digest in digests.values():
        whole.merge(_COUNTED[digest])
    return whole
