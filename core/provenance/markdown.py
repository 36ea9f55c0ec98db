"""A provenance report document as Markdown, by the template ``report.md.j2``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from core.provenance.records import Override

_MOST_SHOWN = 160  # characters of a text in a table

# What an answer does not stand for, whatever its risk is.
OVERRIDDEN: Mapping[Override, str] = {
    Override.BLOCKED: "the answer does not pass",
    Override.NOT_JUDGED: "the answer could not be judged",
    Override.CRITICAL_OMISSION: "the answer leaves out a critical fact",
}


def report_markdown(document: Mapping[str, Any]) -> str:
    """A report document as Markdown: decisions, and what stands behind them."""
    summary = document["summary"]
    levels = {f"passed, risk {name}": count for name, count in summary["risk_levels"].items()}
    versions = {tuple(sorted(answer["versions"].items())) for answer in document["answers"]}
    return _template().render(
        document,
        OVERRIDDEN=OVERRIDDEN,
        risks={"do not pass": summary["claims_blocked"]} | levels,
        overridden={
            OVERRIDDEN[Override(name)]: count for name, count in summary["tiers_overridden"].items()
        },
        weights=" + ".join(f"{w:.2f} {n}" for n, w in document["method"]["risk_weights"].items()),
        versions=[", ".join(f"{name} {value}" for name, value in one) for one in sorted(versions)],
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    # Nothing is escaped for HTML here: `cell` escapes for Markdown, and the page for HTML.
    made = Environment(
        loader=PackageLoader("core.provenance", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "cell": _cell,
        "figure": lambda value: f"{value:.2f}" if isinstance(value, float) else "–",
        "found": _found,
        "percent": lambda share: f"{share:.0%}" if isinstance(share, float) else "no factual claim",
        "worded": lambda counts: {_words(name): count for name, count in counts.items()},
        "words": _words,
    }
    made.filters |= filters
    return made.get_template("report.md.j2")


def _found(claim: Mapping[str, Any]) -> str:
    """What is wrong with a claim, in one line."""
    reasons = [each["reason"] for each in claim["distortions"]]
    reasons += [f"{each['text']} is in no source" for each in claim["fabrications"]]
    return "; ".join(reasons) or "–"


def _words(state: object) -> str:
    return str(state).replace("_", " ")


def _cell(value: object) -> str:
    """A text that cannot break a table, nor become markup."""
    text = " ".join(str(value).split())
    text = text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
    for mark in ("\\", "|", "<", "`", "[", "*", "_", "#"):
        text = text.replace(mark, "\\" + mark)
    return text
