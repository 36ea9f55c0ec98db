"""A record of options from the command line: a field is an option of its name, type and default."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar, get_args, get_type_hints

Options = TypeVar("Options")


def from_arguments(
    record: type[Options], about: str | None, arguments: Sequence[str] | None = None
) -> Options:
    """The record as the arguments fill it; a field without a default is needed."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    types = get_type_hints(record)
    for field in dataclasses.fields(record):  # type: ignore[arg-type]
        kinds = get_args(types[field.name]) or (types[field.name],)
        needed = field.default is dataclasses.MISSING
        more: dict[str, Any] = {"required": True} if needed else {"default": field.default}
        if Ellipsis in kinds:
            more["nargs"] = "*"
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kinds[0], **more)
    given = vars(parser.parse_args(arguments))
    return record(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})
