"""What several commands judge with: the models, the database, files of traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.options import Decides, JudgeAsked, JudgedBy, JudgeDryRun, JudgeModel, JudgeUrl, NliModel
from cli.output import Progress, require, say
from core.errors import ConfigError, InputError, ProvenanceGuardError

if TYPE_CHECKING:
    from core.config import Config
    from core.ports import Judge
    from core.records import Trace, Verification
    from core.workflows.gate import PolicyJudge
    from core.workflows.verify import VerifyReport
    from storage.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """The calibrator and the NLI model that were asked for."""

    calibrator: Decides = None
    nli: NliModel = None

    def models(
        self,
        config: Config,
        workspace: Workspace | None = None,
        *,
        cache: Path | None = None,
        whole_answers: bool = False,
    ) -> Any:
        """The models that judge; a database says which where nothing else was asked for.

        ``cache`` is a folder for what they read, so that it is not read again; ``whole_answers`` lets
        answers pass as a whole.
        """
        from core.workflows.cache import kept_in
        from core.workflows.models import deciding, load_models

        models = load_models(
            config,
            nli_model=nli_model_for(self.nli, workspace),
            calibrator=_decider(self.calibrator, workspace),
        )
        models = deciding(models, whole_answers=whole_answers)
        return models if cache is None else kept_in(cache, models)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """The language model that is asked too, if any."""

    judge: JudgedBy = None
    judge_model: JudgeModel = None
    judge_url: JudgeUrl = None
    judge_for: JudgeAsked = None
    judge_dry_run: JudgeDryRun = False

    def over(self, policy: PolicyJudge | None) -> Judging:
        """These options, and for what they do not say those of a gate's policy."""
        if policy is None:
            return self
        chosen = replace(self, judge_for=self.judge_for or policy.asked.value)
        if self.judge is not None:
            return chosen
        return replace(chosen, judge=policy.address, judge_model=self.judge_model or policy.model)

    def asked(self, seconds: float | None = None) -> Judge | None:
        """The judge, None without ``--judge``; nothing is imported then.

        It has so many ``seconds`` for a reply.
        """
        if self.judge is None:
            if self.judge_model is not None or self.judge_url is not None or self.judge_dry_run:
                raise ConfigError("--judge: say which judge the other options are for")
            return None
        from core.workflows.judges import Count, judge_named

        if self.judge_dry_run:
            return Count()
        return judge_named(self.judge, self.judge_model, url=self.judge_url, seconds=seconds)

    def beside(self, models: Any, judge: Judge | None, workspace: Workspace | None = None) -> Any:
        """The models with that judge beside them, else with the one that a database's lead chose."""
        if judge is None:
            if workspace is None:
                return models
            from core.workflows.models import with_chosen_judge

            return with_chosen_judge(models, workspace.judges)
        from core.records.judge import JudgeFor

        return replace(models, judge=judge, judge_for=JudgeFor(self.judge_for or "unsure"))


def tell_judge(judge: Judge | None) -> None:
    """After a dry run: what would have been sent."""
    if judge is not None and judge.name == "nobody":
        from core.workflows.judges import Count

        assert isinstance(judge, Count)
        say(
            f"dry run: {judge.requests} requests about {judge.claims} claims, "
            f"about {judge.tokens} tokens; nobody was asked"
        )


def verify_files(
    files: Sequence[Path],
    out: Path | None,
    format: str,
    judged_by: Any,
    models: Callable[[], Any],
    config: Config,
    *,
    anew: bool = False,
    batch: int | None = None,
    shown: Callable[[Verification], None] = lambda verified: None,
) -> VerifyReport:
    """Verify files of traces into a file of verdicts; ``anew`` keeps none that it holds.

    ``models`` loads them; ``shown`` is given each new verdict. Raises InputError before a model is
    loaded when no trace can be read.
    """
    from core.capture.reading import read_traces
    from core.workflows.verify import BATCH_TRACES, verify_file

    require(*files)
    total = None
    captured = with_a_trace(read_traces(files, format, config))
    with Progress() as progress:
        if progress.shown:
            # Read once more, so that the time left can be told: reading is quick, judging is not.
            total = sum(
                not isinstance(item, InputError) for item in read_traces(files, format, config)
            )
        return verify_file(
            captured,
            out,
            models(),
            config,
            progress,
            batch or BATCH_TRACES,
            total=total,
            skipped=tell_unread,
            judged_by=judged_by,
            anew=anew,
            shown=shown,
        )


def with_a_trace(captured: Iterable[Trace | InputError]) -> Iterator[Trace | InputError]:
    """The same records where one is a trace; else tells each that was skipped and raises InputError."""
    items = iter(captured)
    unreadable: list[InputError] = []
    for item in items:
        if not isinstance(item, InputError):
            return chain(unreadable, [item], items)
        unreadable.append(item)
    for error in unreadable:
        tell_unread(error)
    raise InputError("no trace could be read")


def tell_unread(error: InputError) -> None:
    """Say on stderr which record could not be read, and why."""
    say(f"skipped: {error.located()}")


def nli_model_for(chosen: str | None, workspace: Workspace | None = None) -> str | None:
    """What ``--nli-model`` means: None is the bundled one, and a database says which it reads with."""
    if chosen is None and workspace is not None:
        chosen = workspace.nli_models.current().nli
    return None if chosen == "bundled" else chosen


def database_nli_model(chosen: str | None, db: str | None) -> str | None:
    """The NLI model as for that database's traces; a SQLite file that is not there yet is not made."""
    from storage.engine import database_url

    if chosen is not None:
        return nli_model_for(chosen)
    try:
        url = database_url(db)
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
            return None
        workspace = open_database(db)
    except ProvenanceGuardError:
        return None  # what is wrong with the database has a line of its own
    try:
        return nli_model_for(None, workspace)
    finally:
        workspace.close()


def _decider(decides: str | None, workspace: Workspace | None) -> Any:
    """What ``--calibrator`` means: None is the shipped one; a database's active one goes first."""
    if decides == "shipped" or (decides is None and workspace is None):
        return None
    if decides not in (None, "promoted"):
        return Path(decides)
    from core.workflows.models import active_forest

    opened = workspace or open_database(None)
    try:
        return active_forest(opened.calibrators)
    finally:
        if workspace is None:
            opened.close()


def open_database(db: str | None) -> Workspace:
    """The database that ``--db`` names; what is written through it is the local user's."""
    from core.workflows.models import ForestFiles
    from storage.people import local_name
    from storage.workspace import open_workspace

    return open_workspace(db, actor=local_name(), files=ForestFiles())


def writing_database(db: str | None) -> Workspace:
    """That database for a command that adds to it: raises NotAllowed unless the local user may.

    The first who writes to a database leads it; another account's user waits for a lead's word.
    """
    from core.review.roles import require_writer

    workspace = open_database(db)
    user = workspace.people.local()
    require_writer(user.name, user.roles, "write to this database")
    return workspace.written_by(user.name)
