"""The long runs of this folder are for ``make check-all`` alone."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "stress" in (config.option.markexpr or ""):
        return
    long = [
        item
        for item in items
        if item.get_closest_marker("stress") and "capture/formats" in item.nodeid
    ]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
