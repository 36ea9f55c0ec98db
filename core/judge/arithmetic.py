"""The arithmetic of a judge's proof, evaluated by us: a few operations over numbers, dates and units.

An expression is parsed into Python's syntax tree and walked here; nothing of it is ever run. Allowed are
numbers, quoted texts, ``+ - * /``, comparisons, and the functions of ``FUNCTIONS``; everything else
raises BadExpression with a sentence for a person. Length, depth, size of numbers and count of operands
are bounded.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from core.evidence.names import WEEKDAYS
from core.evidence.units import converted, unit_name

LONGEST = 600  # characters
MOST_NODES = 200
DEEPEST = 12
LARGEST = 1e15
# Of units and calendars: minutes, hours, days of a week and of a year, months, thousands, percent.
CONSTANTS = frozenset({7.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0, 365.25, 1000.0, 3600.0})
_SIGNS = str.maketrans("−–×÷", "--*/")

Value = float | datetime | str


class BadExpression(ValueError):
    """The expression is not one of those that are evaluated; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """An expression's value, and the operands that a quote has to hold.

    ``numbers`` and ``texts`` are the literals as they were written, constants of units left out;
    ``counted`` are those among what ``count`` counts, which have to stand there as often as that;
    ``holds`` is None unless the expression compares, or equates what is not equal. ``above`` and
    ``below`` are the bare numbers that a comparison says its other side is above or below of;
    ``constants`` the constants that were written; ``extreme`` is "min" or "max" where it is one.
    """

    value: Value
    numbers: tuple[float, ...]
    texts: tuple[str, ...]
    counted: tuple[float | str, ...] = ()
    holds: bool | None = None
    above: tuple[float, ...] = ()
    below: tuple[float, ...] = ()
    constants: tuple[float, ...] = ()
    extreme: str | None = None


def evaluate(expression: str, words: frozenset[str] = frozenset()) -> Evaluated:
    """The value of an expression; ``words`` say what is measured, where a conversion depends on it.

    Raises BadExpression.
    """
    tree = _parsed(expression)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "convert":
            node.args.append(ast.Constant(value=" ".join(sorted(words))))
    if isinstance(tree, ast.Compare):
        return _compared(tree)
    return _evaluated(tree, _value(tree, 0))


def is_free(expression: str) -> bool:
    """Whether a calculation comes to the same whatever number stands for each that it names: 80 - 80 + 60.

    Constants of units and the ones of ``1 - 0.2`` stay as they are. False where texts or comparisons
    take part.
    """
    tree = _parsed(expression)
    literals = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    beside = _ones(tree) | _settings(tree)
    numbers = {
        _literal(node)
        for node in literals
        if id(node) not in beside and not isinstance(node.value, str)
    } - CONSTANTS
    if (
        isinstance(tree, ast.Compare)
        or not numbers
        or any(isinstance(node.value, str) for node in literals)
    ):
        return False
    value = _value(tree, 0)
    for number in numbers:
        for node in literals:
            if id(node) not in beside and _literal(node) == number:
                node.value = number * 1.37 + 0.731
        if _value(tree, 0) != value:
            return False
    return True


def shown(value: Value) -> str:
    """A value as a person reads it: at most six significant digits, a date without a midnight."""
    if isinstance(value, datetime):
        clock = value.time()
        return value.strftime("%Y-%m-%d %H:%M" if clock.hour or clock.minute else "%Y-%m-%d")
    return value if isinstance(value, str) else f"{value:.6g}"


# ---------------------------------------------------------------- reading


def _parsed(expression: str) -> ast.expr:
    text = expression.strip().translate(_SIGNS)
    if not text or len(text) > LONGEST:
        raise BadExpression(f"an expression has 1 to {LONGEST} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise BadExpression("it is no arithmetic") from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise BadExpression(f"it has more than {MOST_NODES} parts")
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    if any(isinstance(text, str) and not text.strip() for text in texts):
        raise BadExpression("it names an empty text")
    return tree


def _evaluated(tree: ast.expr, value: Value, holds: bool | None = None) -> Evaluated:
    numbers, texts, constants = [], [], []
    above, below = _bare(tree)
    beside = _ones(tree) | _settings(tree) | above.keys() | below.keys()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in beside:
            continue
        if isinstance(node.value, str):
            texts.append(node.value)
        elif (number := _literal(node)) in CONSTANTS:
            constants.append(number)
        else:
            numbers.append(number)
    name = _called(tree) if isinstance(tree, ast.Call) else ""
    return Evaluated(
        value=value,
        numbers=tuple(numbers),
        texts=tuple(texts),
        counted=tuple(_counted(tree)),
        holds=holds,
        above=tuple(above.values()),
        below=tuple(below.values()),
        constants=tuple(constants),
        extreme=name if name in ("min", "max") else None,
    )


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "id", ""))


def _bare(tree: ast.expr) -> tuple[dict[int, float], dict[int, float]]:
    """The numbers that stand alone on a side of a comparison: those it lies above, and below."""
    above, below = dict[int, float](), dict[int, float]()
    if isinstance(tree, ast.Compare):
        sides = [tree.left, *tree.comparators]
        for sign, one, other in zip(tree.ops, sides, sides[1:], strict=False):
            rising = isinstance(sign, ast.Lt | ast.LtE)
            for side, found in (
                (one, above if rising else below),
                (other, below if rising else above),
            ):
                if isinstance(side, ast.Constant) and not isinstance(side.value, str):
                    found[id(side)] = _literal(side)
    return above, below


def _counted(tree: ast.expr) -> Iterator[float | str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "count":
            for argument in node.args:
                if not isinstance(argument, ast.Constant):
                    raise BadExpression("count counts quoted values, each written out")
                text = argument.value
                yield text if isinstance(text, str) else _literal(argument)


def _ones(tree: ast.expr) -> frozenset[int]:
    """The ones of ``1 + 20/100`` and ``1 - 0.68``: a factor made of a share is no quoted number."""
    return frozenset(
        id(node.left)
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add | ast.Sub)
        and isinstance(node.left, ast.Constant)
        and node.left.value == 1
        and _is_share(node.right)
    )


def _is_share(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and 0 < node.value < 1
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _settings(tree: ast.expr) -> frozenset[int]:
    """What says how to compute and not with what: names of units, how many decimals to round to."""
    return frozenset(
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _called(node) in ("convert", "round")
        for argument in node.args[1:]
    )


def _compared(tree: ast.Compare) -> Evaluated:
    sides = [_value(node, 1) for node in (tree.left, *tree.comparators)]
    _alike(sides)
    if [type(sign) for sign in tree.ops] == [ast.Eq]:
        return _equated(tree, sides)
    holds = all(
        _COMPARISONS[type(sign)](one, other)
        for sign, one, other in zip(tree.ops, sides, sides[1:], strict=False)
        if _is_known(sign)
    )
    return _evaluated(tree, sides[0], holds)


def _equated(tree: ast.Compare, sides: Sequence[Value]) -> Evaluated:
    """``113 / 16.2 == 7.0`` is its calculation, which has to come to what is written, as precisely."""
    nodes = (tree.left, tree.comparators[0])
    computed = 1 if isinstance(tree.left, ast.Constant) else 0
    value, written = sides[computed], sides[1 - computed]
    if isinstance(value, float) and isinstance(written, float):
        decimals = len(f"{written:.12g}".partition(".")[2])
        holds = abs(value - written) <= 0.5 * 10.0**-decimals * (1 + 1e-9)
    else:
        holds = value == written
    return _evaluated(nodes[computed], value, None if holds else False)


def _alike(values: Sequence[Value]) -> None:
    kinds = {type(value) for value in values}
    zoned = {value.tzinfo is None for value in values if isinstance(value, datetime)}
    if len(kinds) > 1 or len(zoned) > 1:
        raise BadExpression("it compares unlike things")


def _is_known(sign: ast.cmpop) -> bool:
    if type(sign) not in _COMPARISONS:
        raise BadExpression("it compares in a way that is not evaluated")
    return True


def _value(node: ast.expr, depth: int) -> Value:
    if depth > DEEPEST:
        raise BadExpression(f"it is nested deeper than {DEEPEST}")
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Constant():
            return _literal(node)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(_value(operand, depth + 1))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(_value(operand, depth + 1))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
            one, other = _number(_value(left, depth + 1)), _number(_value(right, depth + 1))
            if isinstance(sign, ast.Div) and other == 0:
                raise BadExpression("it divides by zero")
            return _bounded(_OPERATIONS[type(sign)](one, other))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name]([_value(argument, depth + 1) for argument in arguments])
    raise BadExpression("it holds something that is not evaluated")


def _literal(node: ast.Constant) -> float:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise BadExpression("it holds something that is neither a number nor a text")
    return _bounded(node.value)


def _bounded(number: float) -> float:
    try:
        found = float(number)
    except OverflowError:
        raise BadExpression("a number is too large") from None
    if not math.isfinite(found) or abs(found) > LARGEST:
        raise BadExpression("a number is too large")
    return found


def _number(value: Value) -> float:
    if not isinstance(value, float):
        raise BadExpression("it computes with something that is no number")
    return value


def _moment(value: Value) -> datetime:
    """A date or a point in time in ISO form; raises BadExpression. A zone is kept apart from none."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            pass
    raise BadExpression(f"{value!r:.40} is no date in the form 2026-01-31 or 2026-01-31T14:05")


# ---------------------------------------------------------------- functions


def _span(values: Sequence[Value]) -> timedelta:
    later, earlier = map(_moment, _of(values, 2))
    if (later.tzinfo is None) != (earlier.tzinfo is None):
        raise BadExpression("one of the two times has a zone and the other has none")
    return later - earlier


def _years(values: Sequence[Value]) -> float:
    """Whole years from the second date to the first, as ages are counted."""
    later, earlier = map(_moment, _of(values, 2))
    return float(
        later.year - earlier.year - ((later.month, later.day) < (earlier.month, earlier.day))
    )


def _months(values: Sequence[Value]) -> float:
    later, earlier = map(_moment, _of(values, 2))
    return float(
        (later.year - earlier.year) * 12 + later.month - earlier.month - (later.day < earlier.day)
    )


def _later(values: Sequence[Value], unit: str) -> datetime:
    start, amount = _of(values, 2)
    try:
        return _moment(start) + timedelta(**{unit: _number(amount)})
    except OverflowError:
        raise BadExpression("it leaves the calendar") from None


def _convert(values: Sequence[Value]) -> float:
    amount, unit, into, words = _of(values, 4)
    names = [unit_name(name) if isinstance(name, str) else None for name in (unit, into)]
    found = (
        converted(_number(amount), names[0], names[1], frozenset(str(words).split()))
        if names[0] is not None and names[1] is not None
        else None
    )
    if found is None:
        raise BadExpression(f"{unit!r:.20} does not convert into {into!r:.20}")
    return _bounded(found)


def _of(values: Sequence[Value], count: int) -> Sequence[Value]:
    if len(values) != count:
        raise BadExpression(f"a function takes {count} values and was given {len(values)}")
    return values


def _numbers(values: Sequence[Value]) -> list[float]:
    if not values:
        raise BadExpression("a function was given nothing")
    return [_number(value) for value in values]


def _extreme(values: Sequence[Value], pick: Callable[..., Value]) -> Value:
    if values and all(isinstance(value, str) for value in values):
        moments = [_moment(value) for value in values]
        _alike(moments)
        return pick(moments)
    return pick(_numbers(values))


def _rounded(values: Sequence[Value]) -> float:
    digits = int(_number(values[1])) if len(values) == 2 else 0
    if not 0 <= digits <= 6:
        raise BadExpression("it rounds to 0 to 6 decimals")
    return round(_number(_of(values[:1], 1)[0]), digits)


FUNCTIONS: Mapping[str, Callable[[Sequence[Value]], Value]] = MappingProxyType({
    "min": lambda values: _extreme(values, min),
    "max": lambda values: _extreme(values, max),
    "sum": lambda values: _bounded(math.fsum(_numbers(values))),
    "mean": lambda values: math.fsum(_numbers(values)) / len(values),
    "count": lambda values: float(len(values)),
    "abs": lambda values: abs(_number(_of(values, 1)[0])),
    "round": _rounded,
    "days": lambda values: _span(values) / timedelta(days=1),
    "hours": lambda values: _span(values) / timedelta(hours=1),
    "minutes": lambda values: _span(values) / timedelta(minutes=1),
    "months": _months,
    "years": _years,
    "add_days": lambda values: _later(values, "days"),
    "add_hours": lambda values: _later(values, "hours"),
    "add_minutes": lambda values: _later(values, "minutes"),
    "weekday": lambda values: WEEKDAYS[_moment(_of(values, 1)[0]).weekday()].title(),
    "convert": _convert,
})  # fmt: skip
_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[..., bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
