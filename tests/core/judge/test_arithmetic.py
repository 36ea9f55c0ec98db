"""The arithmetic of a proof: nothing but it is ever evaluated."""

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.judge.arithmetic import CONSTANTS, FUNCTIONS, LONGEST, BadExpression, evaluate, shown

NUMBERS = st.floats(min_value=0.01, max_value=1e6).map(lambda n: round(n, 3))


def expressions() -> st.SearchStrategy[str]:
    """Nested sums and products of positive numbers."""
    leaf = NUMBERS.map(lambda n: f"{n!r}")
    return st.recursive(
        leaf,
        lambda inner: st.builds(
            lambda one, sign, other: f"({one} {sign} {other})", inner, st.sampled_from("+-*"), inner
        ),
        max_leaves=8,
    )


@given(expressions())
def test_it_agrees_with_python_where_both_may_speak(expression: str) -> None:
    expected = eval(compile(ast.parse(expression, mode="eval"), "", "eval"))  # numbers only

    try:
        found = evaluate(expression)
    except BadExpression:  # a step of it may be too large where the end is not
        assert abs(expected) > 1e15 or len(expression) > LONGEST or "*" in expression
        return

    assert isinstance(found.value, float) and math.isclose(found.value, expected, rel_tol=1e-9)


@given(
    st.one_of(st.text(max_size=80), st.text(alphabet="()[]{}.,'\"*/+-=<>0159eabdsx_ ", max_size=80))
)
def test_whatever_is_given_it_either_has_a_value_or_says_why_not(expression: str) -> None:
    try:
        found = evaluate(expression)
    except BadExpression as error:
        assert str(error)
    else:
        assert shown(found.value)
        assert not isinstance(found.value, float) or math.isfinite(found.value)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')", "(1).__class__", "open('x')", "[1][0]", "lambda: 1",
        "1 if 1 else 2", "10 ** 10", "9 % 2", "9 // 2", "True", "None", "f'{1}'", "'a' * 9", "b'1' + 1",
        "days(a, b)", "min(*[1])", "round(1, ndigits=2)", "1e999", "1 / 0", "1j", "count(1 + 1)",
        "(" * 40 + "1" + ")" * 40 + "+1" * 300, "-" * 30 + "1", "add_days('2026-01-01', 1e12)",
        "max('2026-01-01T00:00', '2026-01-01T00:00+01:00')", "'2026-01-01' < 3",
    ],
)  # fmt: skip
def test_nothing_else_is_evaluated(expression: str) -> None:
    with pytest.raises(BadExpression):
        evaluate(expression)


@cases
def test_what_answers_compute_has_its_value(expression: str, value: str) -> None:
    found = evaluate(expression)

    assert shown(found.value) == value
    assert found.holds is None


def test_the_operands_are_told_and_constants_of_units_are_not_among_them() -> None:
    found = evaluate("810 * 3 / 16.2 * (1 + 20/100) * 24 / 60")

    assert sorted(found.numbers) == [3.0, 16.2, 20.0, 810.0]
    assert not set(found.numbers) & CONSTANTS


def test_a_comparison_says_whether_it_holds() -> None:
    assert evaluate("max(11.9, 12.6) <= 20").holds is True
    assert evaluate("12.6 > 20").holds is False
    assert evaluate("113 / 16.2 == 8.0").holds is False


def test_every_function_refuses_what_it_cannot_take() -> None:
    for name in FUNCTIONS:
        with pytest.raises(BadExpression):
            evaluate(f"{name}()" if name != "count" else "count(count(1))")
