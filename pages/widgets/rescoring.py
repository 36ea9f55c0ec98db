"""Deciding stored answers again, in the background: after a calibrator or a threshold was promoted."""

from __future__ import annotations

import streamlit as st

from core.config import Config
from core.ports import Progress as ProgressReporter
from core.workflows.rescore import RescoreReport
from core.workflows.retraining import Retraining
from pages.widgets.jobs import Job, show_failure, show_work
from pages.widgets.plain import show_notice
from pages.widgets.session import settings
from storage.workspace import Workspace


@st.cache_resource(show_spinner=False)
def _rescoring(store_name: str) -> Job[RescoreReport]:
    return Job(
        doing="Deciding stored answers again", noun="answers", before="looking for stored answers …"
    )


def start_rescoring(workspace: Workspace) -> None:
    """Begin to decide every stored answer again, unless that is being done."""
    config = settings()
    _rescoring(workspace.name).start(lambda report: _rescore(workspace, config, report))


def _rescore(workspace: Workspace, config: Config, report: ProgressReporter) -> RescoreReport:
    return Retraining(workspace=workspace).rescore(config, report)


def show_rescoring(workspace: Workspace, *, waiting: int) -> None:
    """How far a rescoring is or what the last one did, and the button for answers that wait."""
    job = _rescoring(workspace.name)
    if job.running:
        show_work(job, key="stop-rescore")
        return
    left_out = _show_end(job)
    if waiting <= left_out:
        return  # what is left needs the models, which the report has said
    with st.container(horizontal=True, vertical_alignment="center"):
        noun = "answer was" if waiting == 1 else "answers were"
        st.text(
            f"{waiting:,} stored {noun} decided by another calibrator than the active one.",
            width="content",
        )
        st.button(
            "Decide them again",
            key="rescore",
            icon=":material/refresh:",
            on_click=start_rescoring,
            args=(workspace,),
            help="From stored NLI scores: no model runs, and nobody's judgement changes.",
        )


def _show_end(job: Job[RescoreReport]) -> int:
    """Say how it ended; the number of answers that it could not decide again."""
    if job.failure is not None:
        show_failure(job.failure, "Deciding again stopped", "What was done so far is kept.")
    report = job.result
    if report is None:
        return 0
    left_out = sum(report.left_out.values())
    show_notice(
        f"{report.rescored:,} stored answers were decided again",
        report_words(report),
        tone="careful" if left_out else "good",
    )
    return left_out


def report_words(report: RescoreReport) -> str:
    """What a rescoring changed, and what it could not decide."""
    words = (
        f"{report.claims_changed:,} claims changed; of the answers {report.now_blocked:,} became blocked "
        f"and {report.now_allowed:,} became allowed."
    )
    for reason, count in sorted(report.left_out.items()):
        words += f" {count:,} kept their old verdict: {reason}. Verify them on the page Traces."
    return words
