"""A run is named by all that can change its verdicts: a change in any of it gives another name."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import grimp
import pytest
from lexical import lexical_models
from tables import cases

from core.config import Config
from core.identity import CORE, NAMED_ELSEWHERE, WITHOUT_A_SAY, rules_digest
from core.models.weight_files import folder_digest
from core.pipeline import versions
from core.workflows.repair import repair_versions
from core.workflows.verify import run_key


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rules as they are shipped, to be changed."""
    place = tmp_path_factory.mktemp("rules") / "core"
    patterns = ("__pycache__", *(f"*{ending}" for ending in NAMED_ELSEWHERE))
    shutil.copytree(CORE, place, ignore=shutil.ignore_patterns(*patterns))
    return place


def digest_after(core: Path, name: str, more: bytes, *, repair: bool = False) -> str:
    """The digest with something appended to a file, which is put back."""
    path = core / name
    before = path.read_bytes()
    path.write_bytes(before + more)
    rules_digest.cache_clear()
    try:
        return rules_digest(core, repair=repair)
    finally:
        path.write_bytes(before)
        rules_digest.cache_clear()


def test_a_copy_of_the_rules_has_their_digest(copied: Path) -> None:
    assert rules_digest(copied) == rules_digest()


@cases
def test_a_changed_rule_or_packaged_file_is_another_run(copied: Path, name: str) -> None:
    assert digest_after(copied, name, b"\n") != rules_digest(copied)


def test_a_new_or_moved_file_is_another_run(copied: Path) -> None:
    before = rules_digest(copied)
    (copied / "verification" / "another.py").write_text("")
    rules_digest.cache_clear()

    after = rules_digest(copied)

    (copied / "verification" / "another.py").unlink()
    rules_digest.cache_clear()
    assert after != before


@pytest.mark.parametrize("name", ["workflows/packet_export.py", "review/agreement.py"])
def test_what_has_no_say_in_a_verdict_leaves_the_run_as_it_is(copied: Path, name: str) -> None:
    assert digest_after(copied, name, b"\n") == rules_digest(copied)


def test_a_changed_edit_is_another_run_of_repair_alone(copied: Path) -> None:
    name = "repair/edits.py"

    assert digest_after(copied, name, b"\n") == rules_digest(copied)
    assert digest_after(copied, name, b"\n", repair=True) != rules_digest(copied, repair=True)


def test_nothing_that_judges_imports_what_has_no_say() -> None:
    graph = grimp.build_graph("core", cache_dir=None)
    judging = {
        "core.pipeline",
        "core.verification.decision",
        "core.codec",
    } | graph.find_descendants("core.models")

    reached = set().union(*(graph.find_upstream_modules(name) for name in judging))

    idle = {name.removesuffix(".py") for name in WITHOUT_A_SAY}
    assert not {name for name in reached if name.split(".")[1] in idle}


def test_changed_weights_give_a_model_another_name(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    before = folder_digest(tmp_path)

    (tmp_path / "model.safetensors").write_bytes(b"weightS")

    assert folder_digest(tmp_path) != before


def test_each_part_of_the_identity_moves_the_run_key() -> None:
    models, config = lexical_models(), Config()
    plain = versions(models, config)
    others = [
        versions(models, dataclasses.replace(config, max_claims=3)),
        repair_versions(models, config, None),
        *(
            dataclasses.replace(plain, **{field.name: "another"})
            for field in dataclasses.fields(plain)
        ),
    ]

    keys = [run_key(one) for one in (plain, *others)]

    assert plain.pipeline == rules_digest()
    assert len(set(keys)) == len(keys)
