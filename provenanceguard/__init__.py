"""ProvenanceGuard: is each claim of an agent's answer supported, and by the source it credits?

    >>> import provenanceguard as pg
    >>> result = pg.verify(
    ...     "Ada Lind takes metformin 850 mg twice daily.",
    ...     tool_outputs=[
    ...         {"tool_name": "load_chart", "text": "Ada Lind takes metformin 500 mg twice daily."},
    ...     ],
    ... )
    >>> str(result.state)
    'block'

Models are loaded at the first call and kept; ``Verifier`` keeps others beside them. Nothing is fetched,
logged or sent. Everything that may be imported is in ``__all__``; all else may change without a word.
"""

from __future__ import annotations

from core.errors import (
    ComponentUnavailable,
    ConfigError,
    InputError,
    ProvenanceGuardError,
)
from core.records import State, Trace
from provenanceguard.results import Claim, Evidence, Verification
from provenanceguard.verifier import Verifier, analyse, load, verify, verify_traces

__all__ = [
    "Claim",
    "ComponentUnavailable",
    "ConfigError",
    "Evidence",
    "InputError",
    "ProvenanceGuardError",
    "State",
    "Trace",
    "Verification",
    "Verifier",
    "analyse",
    "load",
    "verify",
    "verify_traces",
]
