"""A site's own constants: read from its file, and a wrong one named with file and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables import cases

from core.config import Config, RouteWeights
from core.errors import ConfigError
from core.site_config import ENVIRONMENT_VARIABLE, site_config, stated_constants


def of(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    file = tmp_path / "site.toml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(file))
    return site_config()


def test_what_the_file_names_changes_and_all_else_keeps_its_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = of(
        "supported_prior = 0.8\nmax_claims = 5\nalignment_tau = 0\n[route_weights]\nbias = -1\n",
        tmp_path,
        monkeypatch,
    )

    assert found == Config(
        supported_prior=0.8, max_claims=5, alignment_tau=0.0, route_weights=RouteWeights(bias=-1.0)
    )
    assert found.sha256() != Config().sha256()
    moved = {name for name, value, default in stated_constants(found) if value != default}
    assert moved == {"supported_prior", "max_claims", "alignment_tau", "route_weights.bias"}


def test_the_papers_profile_is_its_gate_and_what_the_file_names_beside_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = of('profile = "paper"\nread_sources = 2\n', tmp_path, monkeypatch)

    assert found == Config(
        profile="strict",
        router="centroid",
        read_sources=2,
        premise_characters=1_500,
        min_supported_token_ratio=0.70,
    )


@cases
def test_a_wrong_entry_is_named_with_its_file(
    text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError) as error:
        of(text, tmp_path, monkeypatch)
    assert "site.toml: " in str(error.value) and told in str(error.value)


def test_without_a_file_the_defaults_hold_and_a_missing_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    assert site_config() == Config()
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "none.toml"))
    with pytest.raises(ConfigError, match="none.toml"):
        site_config()
