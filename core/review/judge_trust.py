"""What people's labels say of a judge: how often its proved readings were right here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.config import Config
from core.records import VerdictLabel
from core.records.judge import JudgeVerdict
from core.statistics import beta_interval
from core.verification.decision import prior_worth

READ = (JudgeVerdict.SUPPORTED, JudgeVerdict.CONTRADICTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """How sure a proved reading of one kind is right: the mean of a Beta posterior, with its middle 95 %.

    ``right`` of ``readings`` were, by people's labels; the prior weighs ``judge_prior_readings`` more.
    """

    right: int
    readings: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrust:
    """One judge's trust by verdict. Another model, host or prompt is another judge."""

    by: str
    of: Mapping[JudgeVerdict, Trust]

    @property
    def worth(self) -> dict[JudgeVerdict, float]:
        """The chance that a claim is supported of which it proves each verdict, in hundredths.

        It names the run: in finer steps each label would have every answer judged anew.
        """
        return {
            verdict: round(one.mean if verdict is JudgeVerdict.SUPPORTED else 1.0 - one.mean, 2)
            for verdict, one in self.of.items()
        }


def judge_trust(
    by: str, readings: Iterable[tuple[str, JudgeVerdict, VerdictLabel]], config: Config
) -> JudgeTrust:
    """The trust in the judge ``by``, from proved readings as (judge, verdict, what people found).

    A reading that it contradicts a claim is right where people do not find the claim supported.
    """
    counts = Counter(
        (verdict, (found is VerdictLabel.SUPPORTED) == (verdict is JudgeVerdict.SUPPORTED))
        for name, verdict, found in readings
        if name == by
    )
    return JudgeTrust(
        by=by,
        of={verdict: _trust(counts[verdict, True], counts[verdict, False], verdict, config)
            for verdict in READ},
    )  # fmt: skip


def _trust(right: int, wrong: int, verdict: JudgeVerdict, config: Config) -> Trust:
    prior = prior_worth(verdict, config)
    prior = prior if verdict is JudgeVerdict.SUPPORTED else 1.0 - prior
    weight = config.judge_prior_readings
    good, bad = prior * weight + right, (1.0 - prior) * weight + wrong
    low, high = beta_interval(good, bad)
    return Trust(right=right, readings=right + wrong, mean=good / (good + bad), low=low, high=high)
