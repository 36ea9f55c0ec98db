"""Properties of which every example costs a parser or a whole pipeline: few examples in ``make test``,
other ones each time, and many in ``make check-all``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

THOROUGH = os.environ.get("PROVENANCEGUARD_THOROUGH", "") == "1"


def tried(few: int, *, many: int) -> Callable[[Any], Any]:
    """Marks a property and says on how many examples it is tried."""

    def decorated(test: Any) -> Any:
        count = settings(
            max_examples=many if THOROUGH else few,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
        return pytest.mark.costly(count(test))

    return decorated
