"""What the gate found as JUnit XML and as SARIF 2.1.0, for the machines that show them.

An answer is a test case of JUnit and a claim that is not allowed a result of SARIF: an error where it is
shown to be wrong, a warning where it needs review. JUnit knows no warning: an answer that does not pass is
a failure, one that needs review and may pass is skipped, each line with its level. The place is the line
of the trace in its file; where the answer says it stands in the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote
from xml.etree import ElementTree

from core.records import JsonObject, Origin, State
from core.text.tokens import words
from core.workflows.gate import Finding, GateReport, findings_of

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES: Mapping[str, str] = {
    "contradicted": "A check shows otherwise",
    "unsupported": "Not confirmed: a part of it was found nowhere",
    "not_enough_evidence": "The evidence does not settle it",
    "unjudged": "No stage could judge it",
    "credited_wrongly": "Another source says it than the one that is credited",
    "blocked": "The claim is blocked",
    "unavailable": "The answer could not be verified",
    "skipped": "The record could not be read",
}


def junit(report: GateReport) -> bytes:
    """JUnit XML: one suite, one case an answer or unreadable record, and one for the policy."""
    cases: list[ElementTree.Element] = []
    for one in report.answers:
        case = _case(one.trace.trace_id, _file(one.trace.origin))
        found = list(findings_of(one))
        if found:
            told = "skipped" if report.policy.passes(one) else "failure"
            failure = ElementTree.SubElement(
                case, told, message=_xml("; ".join(one.answer.reasons)), type=found[0].rule
            )
            failure.text = _xml("\n".join(_line(each) for each in found))
        cases.append(case)
    for error in report.skipped:
        name = "the whole file" if error.line is None else f"line {error.line}"
        case = _case(name, error.file or "")
        ElementTree.SubElement(case, "error", message=_xml(error.located()), type="skipped")
        cases.append(case)
    policy = _case("policy", "gate")
    if report.broken:
        failure = ElementTree.SubElement(policy, "failure", message="the policy is broken")
        failure.text = _xml("\n".join(report.broken))
    cases.append(policy)
    failed = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    counts = {"tests": len(cases), "failures": failed, "errors": len(report.skipped)}
    counts["skipped"] = skipped
    numbers = {name: str(count) for name, count in counts.items()}
    suites = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "provenanceguard"} | numbers)
    suite.extend(cases)
    ElementTree.indent(suites)
    return bytes(ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def sarif(report: GateReport) -> JsonObject:
    """SARIF: one run, one result a claim that is not allowed, an answer without verdict, an unread
    record."""
    results = [_result(finding) for finding in report.findings()]
    results += [
        _told("skipped", error.located(), error.file, error.line) for error in report.skipped
    ]
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": "error"}}
        for name, text in RULES.items()
    ]
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "ProvenanceGuard", "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _result(finding: Finding) -> dict[str, object]:
    trace, claim = finding.verification.trace, finding.claim
    origin = trace.origin
    text = f"{trace.trace_id}: {finding.reason}"
    if claim is not None:
        text = f"{trace.trace_id}: “{claim.claim.said}”: {finding.reason}"
    file, line = (origin.file, origin.line) if origin else (None, None)
    result = _told(finding.rule, text, file, line) | {"level": _level(finding)}
    if claim is not None:
        result["partialFingerprints"] = {
            "claim/v1": f"{trace.trace_id}:{' '.join(words(claim.claim.text))}"[:200]
        }
    return result


def _told(rule: str, text: str, file: str | None, line: int | None) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": {"uri": quote(file or "traces")}}
    if line is not None:
        place["region"] = {"startLine": line}
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": "error",
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _level(finding: Finding) -> str:
    return "error" if finding.state is State.BLOCK else "warning"


def _case(name: str, group: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", name=_xml(name), classname=_xml(group or "traces"))


def _file(origin: Origin | None) -> str:
    return (origin.file if origin else None) or ""


def _line(finding: Finding) -> str:
    said = "" if finding.claim is None else f"“{finding.claim.claim.said}”: "
    return f"{_level(finding)}: {finding.rule}: {said}{finding.reason}"


def _xml(text: str) -> str:
    """The text without what XML 1.0 cannot hold."""
    return "".join(
        c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c >= "\U00010000"
        else "\ufffd" for c in text
    )  # fmt: skip
