"""Which name a dose, a schedule or a date belongs to in running text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.records import Span

# A number is taken whole: its digits can be shared out among the repetitions in too many ways.
_FORWARD = re.compile(
    r"[\s,:(-]*(?:of|oral|tablets?|capsules?|a day of|daily|dose of|per day of|each of|the|"
    r"\d[\w.]*+|mg|mcg|once|twice|bid|tid|by mouth|po|worth of|[\s-])*",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    r"[\s,:(=\u2013-]*(?:at|of|is|was|to|dose|dosed|oral|the|tablets?|capsules?|[\s-])*",
    re.IGNORECASE,
)
_BREAK = re.compile(r";|\.\s+[A-Z]|\bbut\b|\bwhereas\b|\bwhile\b|\n\n")


def owner(text: str, item: Span, names: Sequence[Span]) -> Span | None:
    """The name that the item belongs to: the nearest before it, or the one it leads up to.

    "5 mg of amlodipine" leads up to its name unless another name stands right before it.
    """
    before = [name for name in names if name.end <= item.start]
    after = [name for name in names if name.start >= item.end]
    last = max(before, key=lambda name: name.end, default=None)
    following = min(after, key=lambda name: name.start, default=None)
    if last is not None and _CLOSE.fullmatch(text[last.end : item.start]):
        return last
    apart = last is not None and text[item.end : item.end + 2].lstrip()[:1] in (",", ";", "/")
    # "Amitriptyline 10 mg at night, naproxen": what stands behind the comma begins anew.
    if following is not None and _FORWARD.fullmatch(text[item.end : following.start]) and not apart:
        return following
    if last is None:
        return following
    if _BREAK.search(text[last.end : item.start]) and following is not None:
        return following
    return last


def bound(text: str, items: Sequence[Span], names: Sequence[Span], name: Span) -> list[int]:
    """Indices of the items that belong to ``name``; "5 mg and 10 mg respectively" goes in order."""
    if re.search(r"\brespectively\b", text, re.IGNORECASE) and len(items) == len(names) > 1:
        order = sorted(names, key=lambda one: one.start)
        return [index for index, one in enumerate(order) if one == name]
    return [index for index, item in enumerate(items) if owner(text, item, names) == name]
