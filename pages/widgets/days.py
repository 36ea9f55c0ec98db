"""Days that somebody chose, as instants, instants as clocks show them, and since when a choice stands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from core.review.calibrators import CurrentCalibrator
from core.review.judge_choice import CurrentJudge
from core.review.nli_choice import CurrentNliModel


def when(at: datetime) -> str:
    """A time as this machine's clock shows it."""
    return f"{at.astimezone():%d %b %Y, %H:%M}"


def in_use(
    what: str,
    now: CurrentNliModel | CurrentJudge | CurrentCalibrator,
    names: Mapping[str, str],
    unchosen: str = "",
) -> str:
    """What is in use, since when, by whom (by recorded name: ``names``) and why; ``unchosen`` by nobody."""
    if now.since is None:
        return f"In use: {what}. {unchosen}".strip()
    by = names.get(str(now.by), now.by)
    return f"In use: {what}, since {when(now.since)}, chosen by {by}: {now.reason}"


def moments(label: str, *, width: int | None = None) -> ColumnConfig:
    """A table's column of instants in the browser's time zone, which its head names."""
    zone = st.context.timezone or "UTC"
    return st.column_config.DatetimeColumn(
        f"{label} ({zone})", format="D MMM, HH:mm", timezone=zone, width=width
    )


def whole_days(days: object) -> tuple[datetime | None, datetime | None]:
    """The first instant of the first day and the first after the last, in UTC; None where none is."""
    chosen = [
        day for day in (days if isinstance(days, tuple) else (days,)) if isinstance(day, date)
    ]
    since = datetime.combine(chosen[0], time(), UTC) if chosen else None
    until = (
        datetime.combine(chosen[1], time(), UTC) + timedelta(days=1) if len(chosen) > 1 else None
    )
    return since, until
