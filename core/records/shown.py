"""How often labelled claims that an entry of a source states whole were supported."""

from __future__ import annotations

from dataclasses import dataclass

SHOWN_FEATURE = "source_shown"  # 1 where an entry of the claim's source states all of it
# 1 where the claim's source is a chart and was read by what the reader learned on charts, and how far
# such readings entail it.
CHART_READ_FEATURE, CHARTED_FEATURE = "chart_read", "entailment_charted"
ABSENCE_FEATURE = (
    "check_absence"  # above 0 where what the claim says is absent was looked for, and is
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownShare:
    """Labelled claims of which a check covers every word, and how many of them people found supported.

    ``answers`` is how many answers the claims are from, since those of one are not independent.
    """

    supported: int
    claims: int
    answers: int

    @property
    def share(self) -> float:
        """The probability that the next such claim is supported: Laplace's rule, never quite 1."""
        return (self.supported + 1) / (self.claims + 2)
