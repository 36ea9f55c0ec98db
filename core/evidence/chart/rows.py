"""Rows of a chart's text and their labelled values."""

from __future__ import annotations

from dataclasses import dataclass

from core.records import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A labelled value of a row; ``label`` is its whole path, ``span`` the value's place.

    ``label_start`` is where the label stands in the source, where it stands beside its value.
    """

    label: str
    text: str
    span: Span
    label_start: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry, line or sentence; ``section`` is the heading or path that it stands under.

    ``paragraph`` numbers the stretch of running prose that a sentence belongs to; None elsewhere.
    """

    text: str
    span: Span
    section: str = ""
    fields: tuple[Field, ...] = ()
    paragraph: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the text; ``text`` is without its list mark."""

    start: int
    text: str
    indent: int
    marked: bool
    blank: bool
