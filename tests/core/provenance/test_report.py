"""The provenance report: one world with the verdict, deterministic, by its published schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from cli import app
from core.citations.report import schema as envelope_schema
from core.codec import canonical_json
from core.codec.verdicts import verdict_document
from core.distortions.records import DistortionKind
from core.provenance.analyse import analyse
from core.provenance.markdown import OVERRIDDEN, report_markdown
from core.provenance.page import report_page
from core.provenance.records import (
    Fabrication,
    Grounding,
    Omission,
    Override,
    ProvenanceReport,
    RiskLevel,
    Tier,
)
from core.provenance.report import TrailLink, report_document, schema
from core.provenance.risk import WEIGHTS, level_of, tier_of, weighed
from core.records import Check, FactPlace, Judged, Outcome, Span, State
from core.workflows.printing import find_browser
from core.workflows.provenance_report import analysed
from storage.store import open_store
from tests.verdicts import fill, hostile, showcase, with_checks

ROOT = Path(__file__).parents[3]
NO_RISK = dict.fromkeys(WEIGHTS, 0.0)


def test_the_published_schema_is_one_and_holds_for_a_report() -> None:
    Draft202012Validator.check_schema(schema())
    kinds = json.dumps(schema()).partition('"kind": {"enum": [')[2].partition("]")[0]
    assert {kind.value for kind in DistortionKind} == set(json.loads(f"[{kinds}]"))

    document = report_document([analyse(showcase())])

    Draft202012Validator(schema()).validate(document)
    (answer,) = document["answers"]  # type: ignore[misc]
    of_verdict = dict(verdict_document(showcase()))
    assert answer["state"] == of_verdict["state"]
    states = {each["claim_id"]: each["state"] for each in of_verdict["claims"]}  # type: ignore[attr-defined]
    assert all(each["state"] == states[each["claim_id"]] for each in answer["claims"])


def test_the_same_verdict_gives_the_same_bytes() -> None:
    one = report_document([analyse(showcase())])
    two = report_document([analyse(showcase())])

    assert canonical_json(one) == canonical_json(two)
    assert report_markdown(one) == report_markdown(two)


def test_the_report_speaks_of_the_claims_of_the_verdict_and_no_others() -> None:
    verified = showcase()

    report = analyse(verified)

    judged = [v.claim.claim_id for v in verified.claims if v.verdict is not None]
    assert [claim.claim_id for claim in report.claims] == judged
    for claim, verdict in zip(
        report.claims, (v for v in verified.claims if v.verdict is not None), strict=True
    ):
        if isinstance(verdict.outcome, Judged):
            assert claim.support == verdict.outcome.support.probability
            assert claim.chain[0].source_id == verdict.outcome.route.source_id


def test_a_distortion_of_the_verdict_is_in_the_report_and_raises_the_risk() -> None:
    verified = showcase()
    judged = [n for n, v in enumerate(verified.claims) if isinstance(v.outcome, Judged)]
    number = judged[0]
    source = verified.trace.sources[0].source_id
    check = Check(
        check="association as cause",
        outcome=Outcome.CONTRADICTS,
        reason="association as cause: the source says “associated”; the answer says “causes”",
        facts=(FactPlace(source_id=source, span=Span(start=0, end=3)),),
    )

    before = analyse(verified)
    after = analyse(with_checks(verified, number + 1, check))

    claim_id = next(
        now.claim_id for now, then in zip(after.claims, before.claims, strict=True)
        if now.distortions != then.distortions
    )  # fmt: skip
    then = next(c for c in before.claims if c.claim_id == claim_id)
    now = next(c for c in after.claims if c.claim_id == claim_id)
    assert now.risk.fidelity == 1.0
    assert now.risk.total >= then.risk.total
    assert "“causes”" in report_markdown(report_document([after]))


def test_what_is_made_up_is_critical_where_the_claim_does_not_pass() -> None:
    made_up = Fabrication(claim_id="c", text="97 %", kind="percent", span=Span(start=0, end=4))
    cited = replace(made_up, claim_id=None, text="PMID 1", kind="citation (pmid)", span=None)
    report = analyse(showcase())
    claims = [replace(one, fabrications=(made_up,)) for one in report.claims]

    marked = replace(report, claims=tuple(claims), citations_made_up=(cited,))

    held = [one for one in claims if one.level in (None, RiskLevel.CRITICAL)]
    assert 0 < len(held) < len(claims)
    assert marked.critical_fabrications == (*([made_up] * len(held)), cited)
    document = report_document([marked])
    Draft202012Validator(schema()).validate(document)
    assert "made up, critical: PMID 1 (citation (pmid))" in report_markdown(document)


def test_the_weights_sum_to_one_and_every_part_raises_the_risk() -> None:
    nothing = dict.fromkeys(WEIGHTS, 0.0)

    assert abs(sum(WEIGHTS.values()) - 1.0) < 1e-9
    assert weighed(**nothing).total == 0.0
    for name, weight in WEIGHTS.items():
        assert weighed(**(nothing | {name: 1.0})).total == weight


def test_levels_and_tiers_begin_where_the_seed_has_them() -> None:
    assert [level_of(r) for r in (0.249, 0.25, 0.5, 0.75)] == list(RiskLevel)
    assert [tier_of(r) for r in (0.099, 0.1, 0.25, 0.5, 0.75)] == list(Tier)


def test_an_answer_without_claims_has_no_risk_rather_than_none_at_all() -> None:
    verified = showcase()

    report = analyse(replace(verified, claims=()))

    assert report.risk is None and report.grounding_percentage is None
    Draft202012Validator(schema()).validate(report_document([report]))


def test_contradictions_across_turns_name_their_turns_in_every_form() -> None:
    verified = showcase()
    answer = verified.trace.answer or ""
    first = next(c.claim.text for c in verified.claims if c.verdict is not None)
    plain = f"The refund is $340. {answer}"
    trace = replace(
        verified.trace, answer=plain, earlier=("Hello.", "The refund is $240.", f"{first}")
    )

    report = analysed(replace(verified, trace=trace))
    claims = [replace(each.claim, claim_id=f"x{n}") for n, each in enumerate(verified.claims)]
    again = analyse(verified, earlier=[[replace(claims[0], text="The refund is $240.")],
                                       [replace(claims[0], text="The refund is $340.")]])  # fmt: skip

    assert report.turns == 4
    (found,) = again.contradictions
    document = report_document([again])
    Draft202012Validator(schema()).validate(document)
    assert (found.first.turn, found.second.turn, again.turns) == (0, 1, 3)
    text = report_markdown(document)
    assert "in turn 1 of 3 “The refund is $240.”" in text and "in turn 2 of 3 “" in text


def of_low_risk(**changes: object) -> ProvenanceReport:
    """A report whose formula gives tier A, with what is told of its answer."""
    report = analyse(showcase())
    claims = tuple(replace(c, decision="allow", risk=weighed(**NO_RISK)) for c in report.claims)
    calm = replace(
        report, decision="allow", claims=claims, omissions=(), risk=0.21,
        formula_level=RiskLevel.LOW,
    )  # fmt: skip
    return replace(calm, **changes)


def an_omission(severity: RiskLevel) -> Omission:
    place = FactPlace(source_id="chart", span=None)
    return Omission(
        severity=severity, category="allergy", name="penicillin", text="Allergy: penicillin",
        place=place, score=1.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "override"),
    [
        ({"decision": "block"}, Override.BLOCKED),
        ({"decision": "unavailable"}, Override.NOT_JUDGED),
        ({"omissions": (an_omission(RiskLevel.CRITICAL),)}, Override.CRITICAL_OMISSION),
    ],
)
def test_a_low_risk_is_no_tier_where_the_answer_does_not_stand(
    changes: dict[str, object], override: Override
) -> None:
    report = of_low_risk(**changes)

    document = report_document([report])
    text, page = report_markdown(document), report_page(document)

    Draft202012Validator(schema()).validate(document)
    (answer,) = document["answers"]  # type: ignore[misc]
    assert (answer["tier"], answer["level"]) == (None, None)
    assert answer["tier_overridden_by"] == [override.value]
    assert "formula_tier" not in answer  # what is held back has no other tier beside it
    assert document["summary"]["tiers"] == {}  # type: ignore[index]
    assert f"- not to be relied on: {OVERRIDDEN[override]}" in text
    assert f"<li>not to be relied on: {OVERRIDDEN[override]}" in page


def test_a_tier_stands_where_nothing_overrides_it() -> None:
    report = of_low_risk(omissions=(an_omission(RiskLevel.HIGH),))

    document = report_document([report])

    assert document["answers"][0]["tier"] == "A"  # type: ignore[index]
    assert document["summary"]["tiers"] == {"A": 1}  # type: ignore[index]


def test_a_report_for_people_has_no_tier_no_old_figure_and_claims_no_conformity() -> None:
    faithful = of_low_risk()
    far = tuple(replace(each, grounding=Grounding.PARAMETRIC) for each in faithful.claims)

    document = report_document([replace(faithful, claims=far)])
    text = report_markdown(document)

    assert "- claims that pass: 100%" in text
    assert "not to be relied on" not in text
    for absent in ("tier", "AUROC", "Art. 12", "Article 12", "grounded claims"):
        assert absent not in text


def test_a_blocked_claim_is_told_as_blocked_and_never_as_of_low_risk() -> None:
    report = of_low_risk()
    blocked = replace(report.claims[0], state=State.BLOCK, decision="block")
    mixed = replace(
        report, state=State.BLOCK, decision="block", claims=(blocked, *report.claims[1:])
    )

    document = report_document([mixed])

    told = document["answers"][0]["claims"][0]["risk"]  # type: ignore[index]
    assert (told["level"], told["formula_level"]) == (None, "LOW")
    assert document["summary"]["claims_blocked"] == 1  # type: ignore[index]
    assert document["summary"]["risk_levels"]["LOW"] == len(report.claims) - 1  # type: ignore[index]
    row = next(line for line in report_markdown(document).splitlines() if "| block; " in line)
    assert "LOW" not in row


def test_text_of_a_trace_cannot_break_the_table_or_become_markup() -> None:
    verified = showcase()
    trace = replace(verified.trace, question="a | b\n# heading <script>")

    text = report_markdown(report_document([analyse(replace(verified, trace=trace))]))

    assert "a \\| b \\# heading \\<script>" in text


def test_the_trail_is_named_and_the_digest_is_of_everything_else() -> None:
    trail = TrailLink(trail_id="0123456789abcdef", events=7, head="sha256:aa", intact=True)

    linked = report_document([analyse(showcase())], trail)
    alone = report_document([analyse(showcase())])

    assert "audit trail 0123456789abcdef, 7 events, intact" in report_markdown(linked)
    assert linked["sha256"] != alone["sha256"]


def test_a_claim_that_was_not_judged_is_uncertain_and_of_some_risk() -> None:
    report = analyse(showcase())

    for claim in report.claims:
        if claim.support is None:
            assert claim.grounding is Grounding.UNCERTAIN
            assert claim.risk.total >= 0.5


def test_the_command_reports_on_a_file_of_verdicts_and_gives_the_same_bytes_again(
    tmp_path: Path,
) -> None:
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text(json.dumps(verdict_document(showcase())) + "\n", encoding="utf-8")

    written = []
    for name in ("one", "two"):
        out, made = tmp_path / f"{name}.md", tmp_path / f"{name}.json"
        result = CliRunner().invoke(
            app,
            ["report", str(verdicts), "--out", str(out), "--json", str(made)]
            + ["--envelopes", str(tmp_path / "envelopes.jsonl")],
        )
        assert result.exit_code == 0, result.output
        Draft202012Validator(schema()).validate(json.loads(made.read_text()))
        written.append((out.read_text(), made.read_text()))

    assert written[0] == written[1]
    assert "## 2. Situations of risk" in written[0][0]
    (line,) = (tmp_path / "envelopes.jsonl").read_text().splitlines()
    Draft202012Validator(envelope_schema("envelope")).validate(json.loads(line))
    assert json.loads(line)["claims"] and json.loads(line)["unverified"]


def test_the_command_says_that_a_file_holds_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text("{}\n", encoding="utf-8")

    assert CliRunner().invoke(app, ["report", str(file)]).exit_code == 2


def test_a_database_gives_its_trail_and_only_the_days_that_are_asked_for(tmp_path: Path) -> None:
    path, made = tmp_path / "w.db", tmp_path / "r.json"
    store = open_store(str(path), actor="test")
    fill(store, showcase())
    store.close()
    asked = ["report", "--db", str(path), "--json", str(made)]

    whole = CliRunner().invoke(app, asked)
    document = json.loads(made.read_text())
    later = CliRunner().invoke(app, [*asked, "--since", "2999-01-01"])

    assert whole.exit_code == 0, whole.output
    Draft202012Validator(schema()).validate(document)
    assert document["audit_trail"]["intact"] and document["audit_trail"]["events"] > 0
    assert document["answers"][0]["content_hash"].startswith("sha256:")
    assert later.exit_code == 2


def test_a_report_of_a_period_names_it_and_is_printed_alike_twice(tmp_path: Path) -> None:
    if find_browser() is None:
        pytest.skip("no browser that can print on this machine: apt-get install chromium")
    store = open_store(str(tmp_path / "w.db"))
    fill(store, showcase())
    store.close()
    asked = ["report", "--db", str(tmp_path / "w.db"), "--since", "2020-01-02", "--json", "-"]

    found = [
        CliRunner().invoke(app, [*asked, "--pdf", str(tmp_path / name)]) for name in ("a", "b")
    ]

    document = json.loads(found[0].stdout)
    assert document["period"] == {"since": "2020-01-02", "until": None}
    Draft202012Validator(schema()).validate(document)
    assert "Verdicts from 2020-01-02" in report_markdown(document)
    printed = (tmp_path / "a").read_bytes()
    assert printed.startswith(b"%PDF-") and printed == (tmp_path / "b").read_bytes()


def test_the_page_of_a_report_holds_no_markup_of_a_trace() -> None:
    page = report_page(report_document([analyse(hostile())]))

    assert "<script" not in page and "<img" not in page
    assert "&lt;script&gt;window.hacked = 1&lt;/script&gt;" in page
    assert page.count("<h2>") == 4 and "<table>" in page
