"""What a kind of clinical record is: its fields, and the templates of what can be said of it."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from training.clinical_words import (
    cased,
)
from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL

Said = dict[str, tuple[str, ...]]  # slot → ways of saying its value, or other values
Words = Mapping[str, str | Callable[[], str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A sentence with slots and the label it has when every slot holds the record's own value."""

    text: str
    base: str = ENTAILMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value of a record: its slot, a plain key, a dotted path, and the value as the record
    writes it."""

    slot: str
    key: str
    path: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record: fields, the values as a sentence would say them, other possible values, and what
    can be said."""

    fields: tuple[Field, ...]
    spoken: Mapping[str, tuple[str, ...]]
    others: Mapping[str, tuple[str, ...]]
    templates: tuple[Template, ...]
    extra: tuple[tuple[str, str, str], ...] = ()  # (sentence, label, slot it depends on)


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    path = Path(__file__).parent / "templates" / "clinical_records.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


class Drawn(dict[str, Any]):
    """Words of a sentence; what can be called is drawn anew for each place."""

    def __getitem__(self, key: str) -> str:
        word = super().__getitem__(key)
        return word() if callable(word) else str(word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One table of the templates, with the words that its ``<marks>`` stand for."""

    name: str
    rng: random.Random
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> dict[str, Any]:
        """The table as it is written."""
        return _tables()[self.name]  # type: ignore[no-any-return]

    def _marked(self, text: str) -> str:
        for mark, words in self.marks.items():
            text = text.replace(f"<{mark}>", words)
        return text

    def _one_of(self, choices: str | Sequence[str]) -> str:
        if isinstance(choices, str):
            return self._marked(choices)
        return self._marked(choices[0] if len(choices) == 1 else self.rng.choice(choices))

    def field(self, slot: str, value: str, *, in_case: bool = False) -> Field:
        """The field of that slot under one of its keys; ``in_case`` may capitalise the value."""
        (row,) = (row for row in self.table["fields"] if row["slot"] == slot)
        return self.field_of(row, value, in_case=in_case)

    def field_of(self, row: Mapping[str, Any], value: str, *, in_case: bool = False) -> Field:
        """The field that a row of the table describes."""
        key = self._one_of(row["keys"])
        path = self._one_of(row["path"])
        return Field(
            slot=row["slot"], key=key, path=path, value=cased(value, self.rng) if in_case else value
        )

    def templates(
        self, says: Sequence[str] = ("says",), denies: Sequence[str] = ("denies",)
    ) -> tuple[Template, ...]:
        """What may be said, and what denied: the lists of those names, in their order."""
        return tuple(
            Template(text=self._marked(text), base=base)
            for names, base in ((says, ENTAILMENT), (denies, CONTRADICTION))
            for name in names
            for text in self.table.get(name, ())
        )

    def extras(
        self, words: Words, truths: Mapping[str, bool], present: Sequence[str]
    ) -> tuple[tuple[str, str, str], ...]:
        """Sentences of fixed words, each with its label and the slot that it depends on."""
        made = []
        for row in self.table["extras"]:
            if row.get("needs", "") in ("", *present):
                text = row["text"].format_map(Drawn(words))
                made.append(
                    (
                        text.capitalize() if row.get("capitalized") else text,
                        _label(row["when"], truths),
                        row["slot"],
                    )
                )
        return tuple(made)


def _label(when: str, truths: Mapping[str, bool]) -> str:
    if when == "unsaid":
        return NEUTRAL
    told = {"always": True, "never": False, **truths}
    holds = not told[when[4:]] if when.startswith("not ") else told[when]
    return ENTAILMENT if holds else CONTRADICTION


def slots_of(fields: Sequence[Field]) -> tuple[str, ...]:
    """The slots of the fields."""
    return tuple(one.slot for one in fields)


def only_present(
    spoken: Mapping[str, tuple[str, ...]], fields: Sequence[Field], *more: str
) -> Said:
    """What can be spoken of: the slots that the record has, the name, and ``more``."""
    present = {*slots_of(fields), "name", *more}
    return {slot: said for slot, said in spoken.items() if slot in present}


def record_row(
    kind: Kind,
    fields: Sequence[Field],
    spoken: Mapping[str, tuple[str, ...]],
    others: Mapping[str, tuple[str, ...]],
    words: Words,
    truths: Mapping[str, bool] | None = None,
    *,
    says: Sequence[str] = ("says",),
    denies: Sequence[str] = ("denies",),
    also: Sequence[str] = (),
) -> Row:
    """One record with everything that can be said of it; ``also`` are more slots that extras may need."""
    return Row(
        fields=tuple(fields),
        spoken=spoken,
        others=others,
        templates=kind.templates(says, denies),
        extra=kind.extras(words, truths or {}, [*slots_of(fields), *also]),
    )
