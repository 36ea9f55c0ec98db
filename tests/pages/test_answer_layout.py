"""An answer's layout: nothing of it is lost, and what is shown reads as its Markdown meant."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pages.widgets.answer_layout import HIDDEN, MARKER, STRONG, answer_parts, lay_out_blocks
from tests.verdicts import HOSTILE

TABLE = """## Findings

| Aspect | Finding |
|---|---|
| Dose | **10 mg** daily |

1. First `a*b` point
- a bullet, 5 * 3 ** 2
"""


@given(st.text(alphabet="ab *_|#`-1.\n", max_size=120), st.lists(st.integers(0, 120), max_size=4))
def test_the_parts_join_to_the_answer_whatever_it_holds(answer: str, edges: list[int]) -> None:
    assert "".join(part.span.cut(answer) for part in answer_parts(answer, edges)) == answer


def test_syntax_is_hidden_and_every_other_character_is_shown() -> None:
    parts = list(answer_parts(TABLE, ()))

    shown = [part.span.cut(TABLE) for part in parts if part.look != HIDDEN]
    assert shown == [
        "Findings", "Aspect", "Finding", "Dose", "10 mg", " daily", "1.", "First ", "a*b", " point",
        "a bullet, 5 * 3 ** 2",
    ]  # fmt: skip
    looks = {part.span.cut(TABLE): part.look for part in parts}
    assert (looks["10 mg"], looks["1."]) == (STRONG, MARKER)
    assert [block["kind"] for block in lay_out_blocks(TABLE)] == [
        "heading", "table-head", "row", "item", "item",
    ]  # fmt: skip
    assert [part.cell for part in parts if part.span.cut(TABLE) in ("Dose", "10 mg")] == [0, 1]


def test_hostile_text_keeps_all_but_its_bold_and_code_marks() -> None:
    shown = "".join(p.span.cut(HOSTILE) for p in answer_parts(HOSTILE, ()) if p.look != HIDDEN)

    assert shown == HOSTILE.replace("**bold**", "bold").replace("`code`", "code")
