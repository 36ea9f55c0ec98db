"""rules_digest: what names the rules of a run, so that no change of a verdict goes unnoticed.

A version number that is bumped by hand is forgotten. The digest is over bytes: a changed comment
moves it too, and costs a run; a changed rule that did not move it would leave stale verdicts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

CORE = Path(__file__).parent

# No verdict on a given trace depends on these; whatever is not named here counts. A test holds that
# the pipeline and the models import none of them. Capture makes the trace, whose content is named.
WITHOUT_A_SAY = frozenset(
    "bootstrap.py calibration capture evaluation repair review statistics.py workflows".split()
)
# Named by digests of their own: the calibrator, and the weights that a model's name ends in.
NAMED_ELSEWHERE = (".safetensors", ".npz", "calibrator.json")
NO_RULES = (".pyc", ".md")
_BESIDE = " with "
_UNREAD = ", not all read"


@lru_cache(maxsize=4)
def rules_digest(core: Path = CORE, *, repair: bool = False) -> str:
    """``rules@sha256:…`` over the code and packaged data that a verdict comes from.

    With ``repair``, what edits answers counts as well.
    """
    digest = hashlib.sha256()
    for path in sorted(core.rglob("*"), key=lambda path: path.relative_to(core).as_posix()):
        place = path.relative_to(core)
        idle = place.parts[0] in WITHOUT_A_SAY and not (repair and place.parts[0] == "repair")
        if idle or not path.is_file() or path.name.endswith(NAMED_ELSEWHERE + NO_RULES):
            continue
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{place.as_posix()} {hashlib.sha256(content).hexdigest()}\n".encode())
    return f"rules@sha256:{digest.hexdigest()[:16]}"


def with_judge(rules: str, judge: str, asked: str, worth: Iterable[float]) -> str:
    """What names rules beside which a judge is asked about the claims that ``asked`` says.

    ``worth`` is the chance of support that goes with each verdict of it: it decides, so it is named.
    """
    return f"{rules}{_BESIDE}{judge} for {asked} worth {' '.join(f'{one:g}' for one in worth)}"


def unread(pipeline: str, like: str = _UNREAD) -> str:
    """What names the run, where ``like`` names one in which a judge gave no reply: verifying asks again."""
    return pipeline + _UNREAD if like.endswith(_UNREAD) else pipeline


def rules_of(pipeline: str) -> str:
    """The rules that a run names, without the judge beside them."""
    return pipeline.partition(_BESIDE)[0]
