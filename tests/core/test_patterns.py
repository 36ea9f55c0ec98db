"""No pattern of ours can be kept busy by a text: tool outputs are written by anybody.

A repeated group is dangerous where it can take the same stretch in one turn and in two: what follows and
does not fit is then tried in 2^n ways. The parsed pattern of every repeat is asked just that.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from itertools import product
from re import _compiler, _constants, _parser
from types import ModuleType

from tables import cases

import cli
import core
import service
import storage

LETTERS = "1aA -.,_|#*;:\n/é"
STRETCHES = [*LETTERS, *map("".join, product(LETTERS, repeat=2))]
END = "\x00"
MANY = 20
PACKAGES = (core, cli, service, storage)


def modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.rpartition(".")[2] != "__main__":
                importlib.import_module(found.name)
    ours = {package.__name__ for package in PACKAGES}
    yield from (one for name, one in list(sys.modules.items()) if name.partition(".")[0] in ours)


def compiled(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        for one in (*value, *value.values()):
            yield from compiled(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from compiled(one)


def repeated(parsed: object) -> Iterator[object]:
    """The bodies of all repeats of a parsed pattern that may turn often, and may be turned back."""
    for operation, told in parsed:
        if operation in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            if told[1] is _constants.MAXREPEAT or told[1] > MANY:
                yield told[2]
            yield from repeated(told[2])
        elif operation is _constants.POSSESSIVE_REPEAT:
            yield from repeated(told[2])
        elif operation is _constants.SUBPATTERN:
            yield from repeated(told[3])
        elif operation is _constants.ATOMIC_GROUP:
            yield from repeated(told)
        elif operation is _constants.BRANCH:
            for one in told[1]:
                yield from repeated(one)
        elif operation in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from repeated(told[1])


def taken_two_ways(pattern: str, flags: int) -> list[str]:
    """Stretches that some repeated group takes in one turn as well as in two."""
    return [
        stretch
        for body in repeated(_parser.parse(pattern, flags))
        if len(body) > 1 or body[0][0] in (_constants.SUBPATTERN, _constants.BRANCH)
        for stretch in STRETCHES
        if takes(body, flags, stretch, stretch) and takes(body, flags, stretch * 2, "")
    ]


def takes(body: object, flags: int, stretch: str, behind: str) -> bool:
    """Whether one turn takes that stretch where that and the end stand behind it."""
    then = [(_constants.LITERAL, ord(letter)) for letter in behind + END]
    whole = _parser.SubPattern(body.state, [*body.data, *then])
    return _compiler.compile(whole, flags).fullmatch(stretch + behind + END) is not None


@cases
def test_a_group_that_takes_a_stretch_in_two_ways_is_found(pattern: str, dangerous: bool) -> None:
    assert bool(taken_two_ways(pattern, re.IGNORECASE)) is dangerous


def test_no_pattern_takes_a_stretch_in_two_ways() -> None:
    patterns = {
        (one.pattern, one.flags): f"{module.__name__}.{name}"
        for module in modules()
        for name, value in vars(module).items()
        for one in compiled(value)
    }

    found = {
        where: ways
        for (text, flags), where in patterns.items()
        if (ways := taken_two_ways(text, flags))
    }

    assert len(patterns) > 300
    assert found == {}
