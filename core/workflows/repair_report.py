"""What repairs of a packet come to: counts, what is still said, and what was lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from core.codec import PROPOSAL
from core.records import JsonObject, RepairKind, RepairOutcome, RepairStatus

# A wrongly credited claim is found again in a revised answer by most of its words.
SAME_CLAIM = 0.6


@dataclass(slots=True, kw_only=True)
class RepairReport:
    """What repairing many answers did: the paper's Tables 9, 19 and 20, and what was really saved.

    ``words_kept`` has one share for each repaired answer; ``by_editor`` counts rewordings by who
    wrote them, ``editor_failures`` those that a configured model should have written.
    """

    statuses: Counter[RepairStatus] = field(default_factory=Counter)
    kinds: Counter[RepairKind] = field(default_factory=Counter)
    by_editor: Counter[str] = field(default_factory=Counter)
    editor_failures: int = 0
    supported_before: int = 0
    supported_kept: int = 0
    wrong_attributions_before: int = 0
    wrong_attributions_left: int = 0
    words_kept: list[float] = field(default_factory=list)
    rounds: int = 0

    def add(self, repair: RepairOutcome) -> None:
        """Count one repair."""
        self.statuses[repair.status] += 1
        if repair.status in (RepairStatus.NOT_NEEDED, RepairStatus.UNAVAILABLE):
            return
        self.kinds.update(action.kind for action in repair.actions)
        self.by_editor.update(
            action.editor for action in repair.actions if action.kind is RepairKind.REWORD
        )
        self.editor_failures += sum(action.note is not None for action in repair.actions)
        self.rounds += repair.rounds
        self.supported_before += repair.saved.supported_before
        self.supported_kept += repair.saved.supported_kept
        self.wrong_attributions_before += repair.saved.wrong_attributions_before
        self.wrong_attributions_left += repair.saved.wrong_attributions_left
        if repair.saved.words_kept is not None:
            self.words_kept.append(repair.saved.words_kept)

    def merge(self, other: RepairReport) -> None:
        """Count what another report counted as well."""
        self.statuses.update(other.statuses)
        self.kinds.update(other.kinds)
        self.by_editor.update(other.by_editor)
        self.editor_failures += other.editor_failures
        self.supported_before += other.supported_before
        self.supported_kept += other.supported_kept
        self.wrong_attributions_before += other.wrong_attributions_before
        self.wrong_attributions_left += other.wrong_attributions_left
        self.words_kept += other.words_kept
        self.rounds += other.rounds

    @property
    def rows(self) -> int:
        """Answers seen."""
        return sum(self.statuses.values())

    @property
    def blocked(self) -> int:
        """Answers that were blocked before repair."""
        kept_out = (RepairStatus.NOT_NEEDED, RepairStatus.UNAVAILABLE)
        return self.rows - sum(self.statuses[status] for status in kept_out)

    @property
    def resolved(self) -> int:
        """Blocked answers whose proposed text passes the verifier, fallbacks among them."""
        return (
            self.blocked
            - self.statuses[RepairStatus.MARKED]
            - self.statuses[RepairStatus.UNRESOLVED]
        )

    @property
    def substantive(self) -> int:
        """Resolved answers that still say something."""
        return self.resolved - self.statuses[RepairStatus.FALLBACK]

    def document(self) -> JsonObject:
        """The figures as JSON; a share of nothing is null with a reason beside it, never 0."""
        document: dict[str, object] = {
            "state": PROPOSAL,
            "rows": self.rows,
            "pre_allow": self.statuses[RepairStatus.NOT_NEEDED],
            "pre_block": self.blocked,
            "unavailable": self.statuses[RepairStatus.UNAVAILABLE],
            "repair_resolved": self.resolved,
            "substantive": self.substantive,
            "corrected": self.statuses[RepairStatus.CORRECTED],
            "pruned": self.statuses[RepairStatus.PRUNED],
            "marked": self.statuses[RepairStatus.MARKED],
            "terminal_fallback": self.statuses[RepairStatus.FALLBACK],
            "unresolved": self.statuses[RepairStatus.UNRESOLVED],
            "actions": {kind.value: self.kinds[kind] for kind in RepairKind},
            "rewordings_by_editor": dict(sorted(self.by_editor.items())),
            "editor_failures": self.editor_failures,
            "supported_before": self.supported_before,
            "supported_kept": self.supported_kept,
            "wrong_attributions_before": self.wrong_attributions_before,
            "wrong_attributions_left": self.wrong_attributions_left,
            "verifier_calls": self.rounds,
        }
        shares = {
            "fallback_share": (
                self.statuses[RepairStatus.FALLBACK],
                self.blocked,
                "blocked answers",
            ),
            "supported_kept_share": (
                self.supported_kept,
                self.supported_before,
                "supported claims in blocked answers",
            ),
            "mean_words_kept": (sum(self.words_kept), len(self.words_kept), "repaired answers"),
        }
        for name, (part, whole, of) in shares.items():
            document[name] = round(part / whole, 4) if whole else None
            if not whole:
                document[f"{name}_reason"] = f"there are no {of}"
        return document
