"""The gate of a build: a policy of what may pass, and what verified answers break of it.

A policy is a TOML file; what it does not say is as strict as can be:

    needs_review = "fail"          # or "pass": answers of which nothing is shown to be wrong
    unavailable = "fail"           # or "pass": answers that could not be verified
    earlier = "fail"               # or "pass": what a conversation said before, where it was not judged
    allow_skipped = ["old.jsonl"]  # files whose unreadable records may be left out
    whole_answers = false          # true: an answer may pass as a whole, by its weakest claims together

    [most]                         # how many may be there, over all answers; 0 where not said
    blocked = 0                    # answers that do not pass
    contradicted = 0               # claims, also unsupported, not_enough_evidence, unjudged
    credited_wrongly = 0           # claims

    [judge]                        # a language model that is asked too; options of the command line win
    address = "http://127.0.0.1:8000/v1"  # of this machine or a host of PROVENANCEGUARD_JUDGE_HOSTS,
                                   # or replay:FILE
    model = "…"                    # which model the endpoint is to use
    for = "unsure"                 # or "all", "blocked": about which claims

What the gate found as JUnit XML and as SARIF 2.1.0, for the machines that show them.

An answer is a test case of JUnit and a claim that is not allowed a result of SARIF: an error where it is
shown to be wrong, a warning where it needs review. JUnit knows no warning: an answer that does not pass is
a failure, one that needs review and may pass is skipped, each line with its level. The place is the line
of the trace in its file; where the answer says it stands in the message.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from core.errors import ConfigError, InputError
from core.records import (
    AttributionStatus,
    ClaimVerdict,
    Decision,
    JsonObject,
    Judged,
    Origin,
    State,
    VerdictLabel,
    Verification,
    answer_state,
    state_of,
)
from core.records.judge import JudgeFor
from core.text.tokens import words
from core.workflows.earlier_answers import EarlierAnswers

WRONGLY = "credited_wrongly"
_CHOICES = ("needs_review", "unavailable", "earlier")
_SWITCHES = ("whole_answers",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """How many of each may be there; None: of claims, as many as the answers' gate lets pass."""

    blocked: int = 0
    contradicted: int | None = None
    unsupported: int | None = None
    not_enough_evidence: int | None = None
    unjudged: int | None = None
    credited_wrongly: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyJudge:
    """Which language model is asked too, and about which claims."""

    address: str
    model: str | None
    asked: JudgeFor


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may pass."""

    most: Most = field(default_factory=Most)
    review_passes: bool = False
    unavailable_passes: bool = False
    earlier_passes: bool = False
    allow_skipped: tuple[str, ...] = ()
    whole_answers: bool = False
    judge: PolicyJudge | None = None

    def passes(self, verification: Verification) -> bool:
        """Whether an answer passes by its state: allow, and needs review where that may pass."""
        if verification.answer.decision is Decision.UNAVAILABLE:
            return self.unavailable_passes
        state = answer_state(verification)
        return state is State.ALLOW or (state is State.NEEDS_REVIEW and self.review_passes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One claim that is not allowed, or (``claim`` None) an answer without a verdict on its claims."""

    verification: Verification
    claim: ClaimVerdict | None
    rule: str
    reason: str

    @property
    def state(self) -> State:
        """Block for what is shown to be wrong; needs review for what could not be confirmed."""
        return State.NEEDS_REVIEW if self.claim is None else state_of(self.claim)


@dataclass(slots=True, kw_only=True)
class GateReport:
    """Everything that the gate saw, and what it broke; it passes when ``broken`` is empty."""

    policy: Policy
    answers: list[Verification] = field(default_factory=list)
    skipped: list[InputError] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    earlier: EarlierAnswers = field(default_factory=EarlierAnswers)

    @property
    def broken(self) -> list[str]:
        """A line for each rule that was broken."""
        told = []
        for name, most in ((f.name, getattr(self.policy.most, f.name)) for f in fields(Most)):
            found = self.counts.get(name, 0)
            if most is not None and found > most:
                do = " answers do not pass" if name == "blocked" else ""
                told.append(f"{name}: {found}{do}, and {most} may be there")
        unavailable = self.counts.get("unavailable", 0)
        if unavailable and not self.policy.unavailable_passes:
            told.append(f"unavailable: {unavailable} could not be verified")
        earlier = len(self.earlier.not_judged())
        if earlier and not self.policy.earlier_passes:
            told.append(f"earlier: {earlier} earlier answers of a conversation were not judged")
        if unread := [error for error in self.skipped if not self._allowed(error)]:
            told.append(f"skipped: {len(unread)} could not be read")
        if not self.answers:
            told.append("answers: none could be read, and nothing verified is no pass")
        return told

    def add(self, verification: Verification) -> None:
        """Count one answer."""
        self.answers.append(verification)
        self.earlier.add(verification.trace)
        names = [f"answers_{answer_state(verification)}"]
        if verification.answer.decision is Decision.UNAVAILABLE:
            names.append("unavailable")
        elif not self.policy.passes(verification):
            names.append("blocked")
        for claim in verification.claims:
            if claim.verdict not in (None, VerdictLabel.SUPPORTED):
                names.append(str(claim.verdict))
            if credited_wrongly(claim):
                names.append(WRONGLY)
        for name in names:
            self.counts[name] = self.counts.get(name, 0) + 1

    def findings(self) -> Iterable[Finding]:
        """What is not allowed, answer by answer."""
        for one in self.answers:
            yield from findings_of(one)

    def _allowed(self, error: InputError) -> bool:
        names = {Path(name).name for name in self.policy.allow_skipped}
        return error.file is not None and set(error.file.split(" + ")) <= names


def findings_of(verification: Verification) -> Iterable[Finding]:
    """What is not allowed in one answer."""
    for claim in verification.claims:
        if claim.decision is Decision.BLOCK:
            # By what its first reason tells: a wrong credit, unless the claim itself is shown to be wrong.
            shown = claim.verdict is VerdictLabel.CONTRADICTED
            rule = WRONGLY if credited_wrongly(claim) and not shown else str(claim.verdict)
            yield Finding(
                verification=verification,
                claim=claim,
                rule="blocked" if rule == "supported" else rule,
                reason="; ".join(claim.reasons),
            )
    if verification.answer.decision is Decision.UNAVAILABLE:
        reason = "; ".join(verification.answer.reasons)
        yield Finding(verification=verification, claim=None, rule="unavailable", reason=reason)


def credited_wrongly(claim: ClaimVerdict) -> bool:
    """Whether the answer credits another source than the one that says it."""
    outcome = claim.outcome
    return (
        isinstance(outcome, Judged) and outcome.attribution.status is AttributionStatus.CONFLATION
    )


def read_policy(path: Path | None) -> Policy:
    """The policy of a file, the strictest without one; raises ConfigError naming file and key."""
    if path is None:
        return Policy()
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    known = {"most", "judge", "allow_skipped", *_CHOICES, *_SWITCHES}
    if strange := sorted(set(document) - known):
        raise ConfigError(f"{path}: {strange[0]}: unknown; known are {', '.join(sorted(known))}")
    choices = {name: document.get(name, "fail") for name in _CHOICES}
    for name, chosen in choices.items():
        if chosen not in ("fail", "pass"):
            raise ConfigError(f'{path}: {name}: expected "fail" or "pass", found {chosen!r}')
    skipped = document.get("allow_skipped", [])
    if not isinstance(skipped, list) or not all(isinstance(name, str) for name in skipped):
        raise ConfigError(f"{path}: allow_skipped: expected a list of file names")
    switches = {name: document.get(name, False) for name in _SWITCHES}
    for name, on in switches.items():
        if not isinstance(on, bool):
            raise ConfigError(f"{path}: {name}: expected true or false, found {on!r}")
    return Policy(
        most=_most(document.get("most", {}), path),
        judge=_judge(document["judge"], path) if "judge" in document else None,
        **switches,
        review_passes=choices["needs_review"] == "pass",
        unavailable_passes=choices["unavailable"] == "pass",
        earlier_passes=choices["earlier"] == "pass",
        allow_skipped=tuple(skipped),
    )


def _most(given: object, path: Path) -> Most:
    names = [one.name for one in fields(Most)]
    if not isinstance(given, Mapping):
        raise ConfigError(f"{path}: most: expected a table")
    for name, value in given.items():
        if name not in names:
            raise ConfigError(f"{path}: most.{name}: unknown; known are {', '.join(names)}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ConfigError(f"{path}: most.{name}: expected a whole number, found {value!r}")
    return Most(**given)


def _judge(given: object, path: Path) -> PolicyJudge:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{path}: judge: expected a table")
    known = ("address", "model", "for")
    for name, value in given.items():
        if name not in known:
            raise ConfigError(f"{path}: judge.{name}: unknown; known are {', '.join(known)}")
        if not isinstance(value, str) or not value.strip():
            raise ConfigError(f"{path}: judge.{name}: expected text, found {value!r}")
    address, model, asked = (given.get(name) for name in known)
    if address is None or (model is None and not address.startswith("replay:")):
        missing = "address" if address is None else "model"
        raise ConfigError(f"{path}: judge.{missing}: missing")
    if asked not in (None, *JudgeFor):
        raise ConfigError(f"{path}: judge.for: expected {', '.join(JudgeFor)}, found {asked!r}")
    return PolicyJudge(address=address, model=model, asked=JudgeFor(asked or JudgeFor.UNSURE))


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
