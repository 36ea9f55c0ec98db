"""NLI scores, routes and what they measure (III.3, III.4)."""

from __future__ import annotations

from dataclasses import dataclass

from core.records.basics import Relation, Span
from core.records.claims import ProtectedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """Claim-relevant evidence of one source, as the NLI model is given it.

    ``text`` is ``call`` (lines that say what was asked, when those are part of it) and then
    ``source.text[span]`` of every span, joined with newlines.
    """

    source_id: str
    text: str
    spans: tuple[Span, ...]
    truncated: bool
    call: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """P(entailment), P(neutral), P(contradiction); rounded to 4 decimals."""

    entailment: float
    neutral: float
    contradiction: float

    @property
    def relation(self) -> Relation:
        """The most probable relation; ties go to the more cautious one."""
        if self.contradiction >= max(self.entailment, self.neutral):
            return Relation.CONTRADICTION
        return Relation.NEUTRAL if self.neutral >= self.entailment else Relation.ENTAILMENT

    def of(self, relation: Relation) -> float:
        """The probability of one relation."""
        return {
            Relation.ENTAILMENT: self.entailment,
            Relation.NEUTRAL: self.neutral,
            Relation.CONTRADICTION: self.contradiction,
        }[relation]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenScore:
    """The alignment score ``a_i`` of one word of the claim (III.4); ``span`` is in the claim's text."""

    span: Span
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NliScore:
    """One forward pass over (premise, claim): label probabilities and the alignment vectors.

    ``tokens`` has the most that each claim word attends to one word of the premise (``a_i``, III.4);
    ``premise_tokens`` the most that any claim word attends to each word of the premise.
    """

    probabilities: Probabilities
    tokens: tuple[TokenScore, ...]
    premise_truncated: bool
    premise_tokens: tuple[TokenScore, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSource:
    """One candidate of a claim with its route score; ``probabilities`` where it was read."""

    source_id: str
    score: float
    probabilities: Probabilities | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The source that a claim is checked against, and how the others ranked (III.3).

    ``margin`` is the lead over the second source; a lone source's margin is its score (App. B).
    """

    source_id: str
    tool_name: str
    family: str
    score: float
    margin: float
    ranking: tuple[RankedSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """The relation that one NLI score gives, before lexical rescue (III.4)."""

    relation: Relation
    probabilities: Probabilities

    @property
    def score(self) -> float:
        """The probability of the predicted relation (``pred_score`` of App. B)."""
        return self.probabilities.of(self.relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedToken:
    """One claim word with its attention-derived score, and whether it is weakly grounded."""

    text: str
    span: Span
    score: float
    weak: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Where the claim's words are grounded; the ratio is over non-stopword words (III.4).

    ``source_tokens`` are the words of the routed source that the claim's words looked at most, with
    spans in the source's text: a heuristic, not an explanation.
    """

    tokens: tuple[AlignedToken, ...]
    supported_token_ratio: float
    source_tokens: tuple[TokenScore, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedValue:
    """A literal of a claim and whether the premise holds it; ``nearest`` is the closest one there.

    ``settles`` is False for a missing one that the source may well say in other words (a name, a
    small count, a bound): it lowers the support and does not block the claim by itself.
    """

    value: ProtectedValue
    present: bool
    nearest: str | None = None
    settles: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralCheck:
    """Protected values, identity and lexical overlap of a claim with its premise (III.4).

    ``relation`` is the relation after lexical rescue; ``rescued`` says whether it changed.
    ``identity_mismatches`` are the claim's identity values that the routed source does not hold.
    """

    values: tuple[CheckedValue, ...]
    identity_mismatches: tuple[str, ...]
    term_overlap: float
    relation: Relation
    rescued: bool

    @property
    def missing(self) -> tuple[CheckedValue, ...]:
        """The protected values that the premise does not hold: each blocks the claim."""
        return tuple(value for value in self.values if not value.present and value.settles)

    @property
    def unwritten(self) -> tuple[CheckedValue, ...]:
        """The literals that the premise does not write, and may say in other words."""
        return tuple(value for value in self.values if not value.present and not value.settles)
