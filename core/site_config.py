"""A site's own operating constants: a TOML file that PROVENANCEGUARD_CONFIG names (Table 2).

What the file does not name keeps its default. The file is read once a process, so that all of a run has
the same constants; their digest is in every verdict (``versions.config_sha256``).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.config import Config, RouteWeights
from core.errors import ConfigError

ENVIRONMENT_VARIABLE = "PROVENANCEGUARD_CONFIG"
MOST_BYTES = 1_000_000
# What ``profile = "paper"`` stands for: III.3, III.4, III.7 and Table 2; what else the file names holds.
PAPER: Mapping[str, object] = {
    "profile": "strict",
    "router": "centroid",
    "read_sources": 1,
    "premise_characters": 1_500,
    "min_supported_token_ratio": 0.70,
}


def site_config() -> Config:
    """The constants of this site; the defaults where the environment names no file.

    Raises ConfigError naming the file and the key of a value that cannot be used.

    >>> site_config().supported_prior
    0.9
    """
    named = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    return _read(named) if named else Config()


@lru_cache(maxsize=4)
def _read(named: str) -> Config:
    try:
        with Path(named).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{named}: {error.strerror or error}") from error
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{named}: larger than {MOST_BYTES:,} bytes")
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{named}: not TOML: {error}") from error
    if document.get("profile") == "paper":
        document = {**PAPER, **document, "profile": PAPER["profile"]}
    values = dict(_values(document, Config, named, ""))
    if isinstance(weights := values.get("route_weights"), dict):
        values["route_weights"] = RouteWeights(
            **dict(_values(weights, RouteWeights, named, "route_weights."))
        )
    try:
        return Config(**values)
    except ConfigError as error:
        raise ConfigError(f"{named}: {error}") from error


def _values(document: Mapping[str, Any], of: type, file: str, at: str) -> Iterator[tuple[str, Any]]:
    """The entries of a table, each of the type of the constant that it sets."""
    known: dict[str, Any] = {field.name: field.default for field in fields(of)}
    for name, value in document.items():
        if name not in known:
            raise ConfigError(f"{file}: {at}{name}: no such constant; {', '.join(sorted(known))}")
        default = known[name]
        if isinstance(default, RouteWeights):
            good: object = isinstance(value, dict)
        elif default is None:  # a limit that is not set
            good = type(value) is int
        else:
            good = type(value) is type(default) or (
                isinstance(default, float) and type(value) is int
            )
        if not good:
            wanted = "a whole number" if default is None else f"{default!r} or the like"
            raise ConfigError(f"{file}: {at}{name}: expected {wanted}, found {value!r}")
        yield name, float(value) if isinstance(default, float) else value


def stated_constants(config: Config) -> Iterator[tuple[str, object, object]]:
    """Every constant with its value here and its default, as ``doctor`` lists them."""
    for field in fields(config):
        value = getattr(config, field.name)
        if isinstance(value, RouteWeights):
            for weight in fields(value):
                yield (
                    f"{field.name}.{weight.name}",
                    getattr(value, weight.name),
                    weight.default,
                )
        elif field.default is not MISSING:
            yield field.name, value, field.default
