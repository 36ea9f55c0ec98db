"""A provenance report document as Markdown.

Its sections are what Article 12 of the EU AI Act asks a log to make possible: to identify situations of
risk, to follow the system in use, and to say which data an output was checked against. Whether a use
meets that article is for others to say, so the report does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from core.provenance.records import Override

_MOST_SHOWN = 160  # characters of a text in a table

# What an answer does not stand for, whatever its risk is.
OVERRIDDEN: Mapping[Override, str] = {
    Override.BLOCKED: "the answer does not pass",
    Override.NOT_JUDGED: "the answer could not be judged",
    Override.CRITICAL_OMISSION: "the answer leaves out a critical fact",
}


def report_markdown(document: Mapping[str, object]) -> str:
    """A report document as Markdown: decisions, and what stands behind them."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, object]) -> Iterator[str]:
    answers = document["answers"]
    assert isinstance(answers, list)
    summary = document["summary"]
    assert isinstance(summary, dict)
    yield "# Provenance report"
    yield ""
    yield "## 1. Period and use of the system"
    yield ""
    period = document["period"]
    if isinstance(period, dict):
        first, last = period["since"] or "the beginning", period["until"] or "the day of the report"
        yield f"Verdicts from {first} to {last}."
        yield ""
    yield f"Answers: {summary['answers']}. Factual claims: {summary['claims']}."
    yield ""
    yield "## 2. Situations of risk"
    yield ""
    yield from _table(("state", "answers"), _worded(summary["states"]))
    yield from _table(("state", "claims"), _worded(summary["claim_states"]))
    levels = {f"passed, risk {name}": count for name, count in summary["risk_levels"].items()}
    yield from _table(("claims", "number"), {"do not pass": summary["claims_blocked"]} | levels)
    overridden = {
        OVERRIDDEN[Override(name)]: count for name, count in summary["tiers_overridden"].items()
    }
    yield from _table(("answers", "number"), overridden)
    if summary["distortions"]:
        yield from _table(("distortion", "claims"), summary["distortions"])
    yield "## 3. What each output was checked against"
    yield ""
    for answer in answers:
        yield from _answer(answer)
    yield "## 4. How this report was made, and how it can be checked"
    yield ""
    yield from _method(document)


def _answer(answer: Mapping[str, object]) -> Iterator[str]:
    yield f"### {_cell(answer['trace_id'])}"
    yield ""
    yield f"- task: {_cell(answer['task'])}"
    yield f"- state: {_words(answer['state'])} (decision: {answer['decision']})"
    overrides = answer["tier_overridden_by"]
    assert isinstance(overrides, list)
    yield from (f"- not to be relied on: {OVERRIDDEN[Override(each)]}" for each in overrides)
    yield f"- claims that pass: {_percent(answer['grounding_percentage'])}"
    if answer["content_hash"]:
        yield f"- version of the record: {answer['content_hash']}"
    yield ""
    claims = answer["claims"]
    assert isinstance(claims, list)
    if claims:
        yield "| claim | attribution | relation | support | risk | found | rests on |"
        yield "|---|---|---|---|---|---|---|"
    for claim in claims:
        found = [each["reason"] for each in claim["distortions"]]
        found += [f"{each['text']} is in no source" for each in claim["fabrications"]]
        rests = ", ".join(link["tool_name"] for link in claim["chain"])
        risk = claim["risk"]["level"] or f"{_words(claim['state'])};"
        yield (
            f"| {_cell(claim['text'])} | {claim['attribution']} | {claim['relation'] or 'not judged'} "
            f"| {_figure(claim['support_probability'])} | {risk} {_figure(claim['risk']['total'])} "
            f"| {_cell('; '.join(found) or '–')} | {_cell(rests)} |"
        )
    if claims:
        yield ""
    yield from _listed(answer)


def _listed(answer: Mapping[str, object]) -> Iterator[str]:
    contradictions, omissions = answer["contradictions"], answer["omitted_facts"]
    citations = answer["fabricated_citations"]
    assert isinstance(contradictions, list) and isinstance(omissions, list)
    assert isinstance(citations, list)
    for each in contradictions:
        first, second = each["first"], each["second"]
        yield (
            f"- contradiction ({each['kind']}): {_in_turn(first, answer)}“{_cell(first['text'])}” and "
            f"{_in_turn(second, answer)}“{_cell(second['text'])}”"
        )
    for each in omissions:
        yield f"- omitted, {each['severity']} ({each['category']}): {_cell(each['text'])}"
    for each in citations:
        yield f"- cited and not in the captured run: {_cell(each['text'])}"
    if contradictions or omissions or citations:
        yield ""


def _in_turn(place: Mapping[str, object], answer: Mapping[str, object]) -> str:
    """Which of several turns a claim was said in; nothing where there is only the answer."""
    turn, turns = place["turn"], answer["turns"]
    assert isinstance(turn, int) and isinstance(turns, int)
    if turns == 1:
        return ""
    return "in this answer " if turn + 1 == turns else f"in turn {turn + 1} of {turns} "


def _method(document: Mapping[str, object]) -> Iterator[str]:
    method, trail = document["method"], document["audit_trail"]
    assert isinstance(method, dict)
    parts = " + ".join(f"{w:.2f} {name}" for name, w in method["risk_weights"].items())
    yield f"- risk = {parts}; LOW < 0.25, MEDIUM < 0.50, HIGH < 0.75, else CRITICAL"
    yield "- the risk is for reading and ranks claims no better than the support: decide by the decision"
    answers = document["answers"]
    assert isinstance(answers, list)
    for versions in sorted({json.dumps(a["versions"], sort_keys=True) for a in answers}):
        made = json.loads(versions)
        yield f"- made with: {', '.join(f'{name} {made[name]}' for name in sorted(made))}"
    if isinstance(trail, dict):
        state = "intact" if trail["intact"] else "NOT INTACT"
        yield f"- audit trail {trail['trail_id']}, {trail['events']} events, {state}, last {trail['head']}"
    yield f"- digest of this report's JSON: {document['sha256']}"


def _table(heads: tuple[str, str], rows: object) -> Iterator[str]:
    assert isinstance(rows, dict)
    yield f"| {heads[0]} | {heads[1]} |"
    yield "|---|---|"
    for name, count in rows.items():
        yield f"| {name} | {count} |"
    yield ""


def _worded(counts: Mapping[str, int]) -> dict[str, int]:
    return {_words(name): count for name, count in counts.items()}


def _words(state: object) -> str:
    return str(state).replace("_", " ")


def _cell(value: object) -> str:
    """A text that cannot break a table, nor become markup."""
    text = " ".join(str(value).split())
    text = text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
    for mark in ("\\", "|", "<", "`", "[", "*", "_", "#"):
        text = text.replace(mark, "\\" + mark)
    return text


def _figure(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "–"


def _percent(value: object) -> str:
    return f"{value:.0%}" if isinstance(value, float) else "no factual claim"
