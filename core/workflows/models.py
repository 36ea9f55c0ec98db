"""The models that the pipeline is given: by name, by a database's choice of an NLI model and a
calibrator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from core.attribution.families import load_families
from core.config import Config
from core.errors import ConfigError
from core.models.forest import ACCURATE_FOLDER, DEFAULT_FOLDER, Forest, load_forest
from core.models.loading import ACCURATE, BUNDLED, PAPER, load_embedder, load_nli_model
from core.pipeline import Models
from core.ports import Calibrator, policy_of
from core.records import VerdictLabel
from core.records.judge import JudgeRequest, JudgeVerdict
from core.review.calibrators import CalibratorArtifact, CalibratorFiles, CurrentCalibrator
from core.review.judge_choice import CurrentJudge
from core.review.nli_choice import CurrentNliModel
from core.review.records import Person
from core.site_config import site_config


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestFiles:
    """Implements core.review.calibrators.CalibratorFiles for folders of forests."""

    shipped: Path = DEFAULT_FOLDER

    def read(self, folder: Path) -> CalibratorArtifact:
        """The artifact in a folder, loaded to see that it is whole."""
        forest = load_forest(folder)
        return CalibratorArtifact(folder=folder, name=forest.name, threshold=forest.threshold)


class ActiveCalibrator(Protocol):
    """What says which calibrator decides, and has its files."""

    @property
    def files(self) -> CalibratorFiles:
        """How folders of calibrators are read, and which one ships with the program."""

    def current(self) -> CurrentCalibrator:
        """What decides now."""


def active_forest(calibrators: ActiveCalibrator) -> Forest:
    """What decides now, loaded, under the name that verdicts give it."""
    current = calibrators.current()
    if current.folder is None:
        return load_forest(calibrators.files.shipped)
    return load_forest(current.folder).at(current.threshold, name=current.label)


def calibrator_folder(named: str | None) -> Path | None:
    """The folder that a calibrator's name means: "shipped", a folder, or None for the active one."""
    if named is None or not named.strip():
        return None
    return DEFAULT_FOLDER if named.strip() == "shipped" else Path(named.strip())


def shipped_with(nli: str | Path | None) -> Path | None:
    """The folder of the calibrator that ships with an NLI model; None for an NLI model that has none."""
    ours = {None: DEFAULT_FOLDER, BUNDLED: DEFAULT_FOLDER, ACCURATE: ACCURATE_FOLDER}
    folder = ours.get(nli) if not isinstance(nli, Path) else None
    return folder if folder is not None and folder.is_dir() else None


def load_models(
    config: Config,
    *,
    nli_model: str | Path | None = None,
    calibrator: Path | Calibrator | None = None,
) -> Models:
    """The bundled models, or those that are named; ComponentUnavailable says what is missing.

    Without a ``calibrator`` the one decides that ships with the NLI model; it may also be one that is
    loaded already. Raises ConfigError when it was fitted on the NLI scores of another NLI model.
    """
    decides = _calibrator(calibrator, nli_model)
    nli = load_nli_model(nli_model, max_tokens=config.nli_max_tokens)
    check_fitted_for(decides, nli.name, nli_model)
    return Models(
        embedder=load_embedder(),
        nli=nli,
        calibrator=decides,
        families=load_families(),
    )


def deciding(models: Models, *, whole_answers: bool = False) -> Models:
    """The same models, letting answers pass as a whole where that is asked for.

    They do from the point on that labels gave; raises ConfigError when the calibrator has none.
    """
    calibrator = models.calibrator
    if not whole_answers:
        return models
    if not isinstance(calibrator, Forest):
        raise ConfigError(f"calibrator {calibrator.name} knows one threshold alone")
    return replace(models, calibrator=calibrator.whole_answers())


class JudgeChoice(Protocol):
    """What says which judge is asked, and keeps what is sent to it."""

    def current(self) -> CurrentJudge:
        """Who is asked now."""

    def sent(self, judge: str, request: JudgeRequest) -> None:
        """Keep that a request goes to it, in counts."""

    def readings(self) -> Iterable[tuple[str, JudgeVerdict, VerdictLabel]]:
        """Its proved readings of claims that people have labelled, as (judge, verdict, label)."""


def with_chosen_judge(models: Models, choice: JudgeChoice) -> Models:
    """The same models beside the judge that a database's lead chose; nothing is imported where none is."""
    now = choice.current()
    if now.address is None:
        return models
    from core.review.judge_trust import judge_trust
    from core.workflows.judges import chosen_judge

    judge = chosen_judge(choice)
    trust = judge_trust(judge.name, choice.readings(), site_config())
    return replace(models, judge=judge, judge_for=now.asked, judge_worth=trust.worth)


def check_fitted_for(calibrator: Calibrator, nli: str, choice: str | Path | None = None) -> None:
    """Raise ConfigError, with the command that refits it, when it was fitted on another NLI model."""
    if fitted_for(calibrator, nli):
        return
    fitted = policy_of(calibrator).nli
    chosen = f" --nli-model {choice}" if choice is not None else ""
    raise ConfigError(
        f"calibrator {calibrator.name} was fitted on the NLI scores of {fitted}, and the NLI model here is "
        f"{nli}: fit one with `provenanceguard recalibrate TRAIN.jsonl{chosen} --out calibrator/`, "
        "then give it with --calibrator calibrator/"
    )


def fitted_for(calibrator: Calibrator, nli: str) -> bool:
    """Whether a calibrator may decide on that NLI model's readings: those it was fitted on, or unknown.

    Its probabilities are learned from one NLI model's: on another's they mean nothing. What counts is
    the digest in the name, since one NLI model may lie in several folders.
    """
    fitted = policy_of(calibrator).nli
    return fitted is None or fitted.rpartition("@")[2] == nli.rpartition("@")[2]


def _calibrator(given: Path | Calibrator | None, nli: str | Path | None) -> Calibrator:
    if given is None:
        return load_forest(shipped_with(nli) or DEFAULT_FOLDER)
    return load_forest(given) if isinstance(given, Path) else given


class NliChoices(Protocol):
    """A repository of which NLI model was chosen when."""

    def current(self) -> CurrentNliModel:
        """What reads now."""

    def choose(self, nli: str, reason: str, by: Person, *, calibrator: Path | None = None) -> None:
        """Read with ``nli`` from now on, and let ``calibrator`` decide where one is given."""


class NliWorkspace(Protocol):
    """A database that is read by one NLI model and decided by one calibrator."""

    @property
    def nli_models(self) -> NliChoices:
        """Its choices of an NLI model."""

    @property
    def calibrators(self) -> ActiveCalibrator:
        """Its calibrators."""


def choose_nli_model(
    workspace: NliWorkspace,
    choice: str,
    reason: str,
    user: Person,
    *,
    calibrator: str | None = None,
) -> None:
    """Read with ``choice`` from now on; with a calibrator's folder or "shipped", that decides.

    Where the active one was fitted on another NLI model, the calibrator that ships with the choice takes
    over.

    Raises ComponentUnavailable, DamagedArtifact, ConfigError with the command that refits a
    calibrator of another NLI model, NotAllowed, and InputError without a reason.
    """
    name = choice.strip()
    loaded = load_nli_model(name).name
    active = active_forest(workspace.calibrators)
    folder = calibrator_folder(calibrator)
    if folder is None and not fitted_for(active, loaded):
        folder = shipped_with(name)
    check_fitted_for(active if folder is None else load_forest(folder), loaded, name)
    # A folder is kept with its whole path.
    of_this_machine = name not in (BUNDLED, ACCURATE, PAPER) and Path(name).is_dir()
    kept = str(Path(name).resolve()) if of_this_machine else name
    workspace.nli_models.choose(kept, reason, user, calibrator=folder)
