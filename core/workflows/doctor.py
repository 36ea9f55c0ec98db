"""check_installation: is everything here that a verification needs, and does the real NLI model read?"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from core.errors import ProvenanceGuardError
from core.records import Relation, Trace
from core.site_config import ENVIRONMENT_VARIABLE as SITE_FILE
from core.site_config import site_config, stated_constants

PACKAGES = (
    "torch",
    "transformers",
    "sentence-transformers",
    "spacy",
    "sqlmodel",
    "streamlit",
)
SETUP = "run `make setup` again"
NAME_ANOTHER = "name another reader: bundled, a folder, or a hub model that was downloaded before"
COORDINATED = "Sales fell in the north, while exports doubled."
EVIDENCE = "Medications: metformin 500 mg, twice daily with meals. Allergies: penicillin."
CLAIMS = {
    "The patient takes metformin 500 mg twice daily.": Relation.ENTAILMENT,
    "The patient has never taken metformin.": Relation.CONTRADICTION,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at: what was found, and what to do when it did not pass."""

    name: str
    passed: bool
    found: str
    remedy: str = ""


def check_installation(nli: str | None = None) -> list[Check]:
    """Python, packages, network, and each model with its digest and a reading of its own.

    ``nli`` is the NLI model that would be chosen, as ``load_nli_model`` takes it.
    """
    return [
        _python(),
        _packages(),
        _network(),
        _guarded("grammar", _grammar),
        _guarded("embedder", _embedder),
        _guarded("NLI model", lambda: _nli_model(nli), NAME_ANOTHER if nli else SETUP),
        _nli_models(),
        _guarded("calibrator", _calibrator),
        _guarded("families", _families),
        _guarded("constants", _constants, f"mend the file that {SITE_FILE} names"),
    ]


def _python() -> Check:
    return Check(
        name="python",
        passed=sys.version_info >= (3, 11),
        found=f"{platform.python_version()} on {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} processors",
        remedy="install Python 3.11 or newer",
    )


def _packages() -> Check:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    said = ", ".join(found) + (f"; missing: {', '.join(missing)}" if missing else "")
    return Check(name="packages", passed=not missing, found=said, remedy=SETUP)


def _network() -> Check:
    offline = os.environ.get("HF_HUB_OFFLINE") == "1"
    return Check(
        name="offline",
        passed=offline,
        found="nothing is fetched or sent" if offline else "models may be fetched from a hub",
        remedy="unset HF_HUB_OFFLINE, or set it to 1",
    )


def _guarded(name: str, look: Callable[[], Check], remedy: str = SETUP) -> Check:
    try:
        return look()
    except ProvenanceGuardError as error:
        return Check(name=name, passed=False, found=str(error), remedy=remedy)
    except ImportError as error:
        return Check(name=name, passed=False, found=f"{error.name} is missing", remedy=SETUP)


def _grammar() -> Check:
    from core.decomposition.claims import decompose

    trace = Trace(trace_id="doctor", question="", answer=COORDINATED, sources=())
    said = [claim.text for claim in decompose(trace, site_config())]
    return Check(
        name="grammar",
        passed=len(said) == 2,
        found=f"“{COORDINATED}” is read as {len(said)} statements",
        remedy=SETUP,
    )


def _embedder() -> Check:
    from core.models.loading import load_embedder

    embedder = load_embedder()
    same, other = embedder.embed([EVIDENCE, next(iter(CLAIMS))])
    return Check(
        name="embedder",
        passed=True,
        found=f"{embedder.name}, {len(same)} dimensions; "
        f"claim and evidence at cosine {float(same @ other):.2f}",
    )


def _nli_model(chosen: str | None) -> Check:
    from core.models.loading import load_nli_model

    nli = load_nli_model(chosen, max_tokens=site_config().nli_max_tokens)
    nli_scores = nli.read([(EVIDENCE, claim) for claim in CLAIMS])
    said, right = [], True
    for nli_score, expected in zip(nli_scores, CLAIMS.values(), strict=True):
        if nli_score is None:
            said.append("gave no NLI score")
            right = False
            continue
        relation = nli_score.probabilities.relation
        said.append(f"reads {relation.value} {nli_score.probabilities.of(relation):.2f}")
        right = right and relation is expected
    return Check(
        name="NLI model",
        passed=right,
        found=f"{nli.name}, {nli.precision}; {', '.join(said)}",
        remedy="it reads a plain pair wrongly: "
        + ("restore core/models/weights" if chosen is None else NAME_ANOTHER),
    )


def _nli_models() -> Check:
    """What could be chosen with --nli-model on this machine."""
    from core.models.loading import ACCURATE, BUNDLED, PAPER, PAPER_NLI_MODEL, is_here

    said = ", ".join(
        f"{name}{f' ({PAPER_NLI_MODEL})' if name == PAPER else ''}: "
        + ("here" if is_here(name) else "not on this machine")
        for name in (BUNDLED, ACCURATE, PAPER)
    )
    return Check(name="NLI models", passed=True, found=f"{said}; or a folder, or owner/model")


def _calibrator() -> Check:
    from core.models.forest import load_forest

    forest = load_forest()
    return Check(
        name="calibrator", passed=True, found=f"{forest.name}, threshold {forest.threshold}"
    )


def _constants() -> Check:
    config = site_config()
    own = [
        f"{name} = {value}" for name, value, default in stated_constants(config) if value != default
    ]
    of_site = os.environ.get(SITE_FILE)
    where = f"{Path(of_site).name}: " if of_site else ""
    return Check(
        name="constants",
        passed=True,
        found=where
        + (", ".join(own) if own else "all as shipped (docs/reference/configuration.md)"),
    )


def _families() -> Check:
    from core.attribution.families import ENVIRONMENT_VARIABLE, load_families

    families = load_families()
    of_site = os.environ.get(ENVIRONMENT_VARIABLE)
    place = f"{Path(of_site).name}: " if of_site else ""
    return Check(
        name="families",
        passed=True,
        found=place + ", ".join(item.family_id for item in families.items),
    )
