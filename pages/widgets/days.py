"""Days that somebody chose, as instants, and instants as the browser's clock shows them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig


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
