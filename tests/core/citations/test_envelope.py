"""Citation envelopes in four layers: the cases of seed 003, by the layer that fails."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from tables import cases

from core.citations.envelope import (
    AntiPattern,
    Envelope,
    EnvelopeClaim,
    Layer,
    LayerOutcome,
    audit_envelope,
    envelope_of,
    read_envelope,
)
from core.citations.resolvers import Resolver, Stores, provenance_form, resolver_of
from core.errors import InputError
from core.records import SetAside, Source, State, state_of
from tests.verdicts import hostile, showcase

CONFIG = "\n".join(
    [*(f"// line {n}" for n in range(1, 42)), "const DEFAULT_TTL_SECONDS = 60;", "}"]
)
PAGE = "In section 2 we sort notes into three trays — fresh, kept, and shelved — each with its own key."
TTL = EnvelopeClaim(
    claim="The cache TTL defaults to 60 seconds.",
    source="file:src/cache/config.ts:42",
    evidence="const DEFAULT_TTL_SECONDS = 60;",
)


def _resolver(config: str = CONFIG) -> Resolver:
    stores = Stores(
        file={"src/cache/config.ts": config}.get,
        commit={"0a1b2c3d4e": "Keep notes in trays"}.get,
        memories={"note-7": "The trays were ordered in May."},
    )
    page = Source(source_id="page", tool_name="fetch", text=PAGE, uri="https://example.org/trays")
    return resolver_of([page], stores)


def _audit(claim: EnvelopeClaim, config: str = CONFIG):  # type: ignore[no-untyped-def]
    return audit_envelope(Envelope(claims=(claim,), unverified=()), _resolver(config)).claims[0]


def test_003_layer_2_the_ttl_envelope_passes_every_layer() -> None:
    audit = _audit(TTL)

    assert audit.passes, audit.layers
    assert audit.anti_patterns == ()


def test_003_layer_2_sixty_against_six_hundred_fails() -> None:
    config = CONFIG.replace("= 60;", "= 600;")

    for evidence in (TTL.evidence, "DEFAULT_TTL_SECONDS = 60"):
        audit = _audit(replace(TTL, evidence=evidence), config)
        assert audit.outcome(Layer.EXISTS) is LayerOutcome.PASSES
        assert audit.outcome(Layer.RESOLVES) is LayerOutcome.PASSES
        assert audit.outcome(Layer.DERIVABLE) is LayerOutcome.FAILS


def test_003_layer_2_paraphrased_evidence_fails_by_name() -> None:
    audit = _audit(replace(TTL, evidence="TTL is set to one minute"))

    assert audit.outcome(Layer.DERIVABLE) is LayerOutcome.FAILS
    assert audit.anti_patterns == (AntiPattern.PARAPHRASED_EVIDENCE,)


def test_003_layer_2_a_number_that_the_excerpt_does_not_give_fails() -> None:
    audit = _audit(replace(TTL, claim="The cache TTL defaults to 90 seconds."))

    assert audit.outcome(Layer.DERIVABLE) is LayerOutcome.FAILS


@cases
def test_003_layer_3_a_universal_claim_from_one_place_fails(claim: str) -> None:
    audit = _audit(replace(TTL, claim=claim))

    assert audit.outcome(Layer.SCOPE) is LayerOutcome.FAILS
    assert AntiPattern.UNIVERSAL_CLAIM in audit.anti_patterns


def test_003_layer_3_the_scoped_claim_passes() -> None:
    claim = "The default cache TTL in `src/cache/config.ts` is 60 seconds."

    assert _audit(replace(TTL, claim=claim, scope="file")).passes


@pytest.mark.parametrize(
    "scope", ["file", "commit", "as-of 2026-05-01", "context-bounded", "this repo"]
)
def test_003_layer_3_scopes(scope: str) -> None:
    assert _audit(replace(TTL, scope=scope)).passes


@cases
def test_003_layer_4_an_invented_cite_fails_by_name(source: str) -> None:
    audit = _audit(replace(TTL, source=source))

    assert audit.outcome(Layer.EXISTS) is LayerOutcome.PASSES
    assert audit.outcome(Layer.RESOLVES) is LayerOutcome.FAILS
    assert AntiPattern.INVENTED_CITE in audit.anti_patterns


def test_003_a_line_that_has_nothing_of_it_is_an_invented_cite() -> None:
    audit = _audit(replace(TTL, source="file:src/cache/config.ts:12", evidence="TTL SECONDS"))

    assert audit.anti_patterns == (AntiPattern.INVENTED_CITE,)


@pytest.mark.parametrize(
    "source", ["", "  ", "config.ts", "file:config.ts", "web:nothing", "git:xyz"]
)
def test_003_layer_1_a_source_of_no_form_fails(source: str) -> None:
    assert provenance_form(source) is None
    assert _audit(replace(TTL, source=source)).outcome(Layer.EXISTS) is LayerOutcome.FAILS


def test_003_layer_4_a_page_that_was_not_captured_is_not_resolvable_here() -> None:
    audit = _audit(replace(TTL, source="web:https://example.org/other"))

    assert audit.outcome(Layer.RESOLVES) is LayerOutcome.NOT_RESOLVABLE_HERE
    assert not audit.passes
    assert audit.anti_patterns == ()


def test_003_worked_example_a_page_quoted_behind_its_section() -> None:
    claim = EnvelopeClaim(
        claim="The paper proposes 3 trays: fresh, kept, shelved.",
        source="web:https://example.org/trays",
        evidence="Section 2: 'we sort notes into three trays — fresh, kept, and shelved'",
        scope="as-of paper publication",
        confidence="high",
    )

    assert _audit(claim).passes


@pytest.mark.parametrize(
    ("source", "evidence"),
    [("memory:note-7", "trays were ordered in May"), ("git:0a1b2c3d4e", "notes in trays")],
)
def test_003_memories_and_commits_resolve(source: str, evidence: str) -> None:
    claim = EnvelopeClaim(claim="Trays are kept.", source=source, evidence=evidence)

    assert _audit(claim).passes


def test_003_dropped_unverified_points_are_named() -> None:
    envelope = Envelope(claims=(TTL,), unverified=("Whether the eviction order is random.",))

    audit = audit_envelope(
        envelope,
        _resolver(),
        asked=(
            "What is the cache TTL in seconds?",
            "eviction order random?",
            "Who owns the build farm?",
        ),
    )

    assert audit.dropped == ("Who owns the build farm?",)
    assert audit.unverified == envelope.unverified
    assert not audit.passes


def test_003_a_guess_is_honest_in_unverified_and_dropped_among_the_claims() -> None:
    guess = EnvelopeClaim(claim="It may rain.", source="guess", evidence="")

    hidden = audit_envelope(Envelope(claims=(guess,), unverified=()), _resolver())
    listed = audit_envelope(Envelope(claims=(), unverified=("It may rain.",)), _resolver())

    assert hidden.claims[0].anti_patterns == (AntiPattern.DROPPED_UNVERIFIED,)
    assert hidden.dropped == ("It may rain.",)
    assert listed.passes
    assert listed.unverified == ("It may rain.",)


def test_a_file_that_a_call_read_resolves_in_the_captured_run() -> None:
    numbered = "\n".join(f"{n}\tvalue {n}" for n in range(10, 40))
    source = Source(
        source_id="read#1", tool_name="read", text=numbered, arguments='{"path": "src/a.ts"}'
    )
    claim = EnvelopeClaim(claim="It is value 12.", source="file:src/a.ts:12", evidence="value 12")

    audit = audit_envelope(Envelope(claims=(claim,), unverified=()), resolver_of([source])).claims[
        0
    ]

    assert audit.passes
    assert audit.place is not None
    assert (audit.place.holder, audit.place.line) == ("read#1", 12)


def test_an_envelope_is_read_as_it_was_written() -> None:
    envelope = Envelope(
        claims=(TTL, replace(TTL, scope="file", confidence="med")), unverified=("x",)
    )

    read = read_envelope(json.dumps(asdict(envelope)))

    assert read.envelope == envelope
    assert read.fixups == ()


@cases
def test_an_envelope_that_cannot_be_read_says_where(raw: str, place: str) -> None:
    with pytest.raises(InputError, match=place):
        read_envelope(raw)


@pytest.mark.parametrize(
    ("evidence", "stands"),
    [("The pool closed 3 June 2021.", True), ("The pool closed 4 June 2021.", False)],
)
def test_003_layer_3_a_date_is_compared_as_a_date(evidence: str, stands: bool) -> None:
    dated = EnvelopeClaim(
        claim="The pool closed on 2021-06-03.", source="memory:pool#0", evidence=evidence
    )
    pool = Source(source_id="pool#0", tool_name="recall", text=evidence)

    audit = audit_envelope(Envelope(claims=(dated,), unverified=()), resolver_of([pool]))

    assert audit.passes is stands


def test_003_an_emitted_envelope_passes_its_own_audit_and_drops_no_claim() -> None:
    for verified in (showcase(), hostile()):
        envelope = envelope_of(verified)

        audit = audit_envelope(
            read_envelope(json.dumps(asdict(envelope))), resolver_of(verified.trace.sources)
        )
        allowed = {c.claim.text for c in verified.claims if state_of(c) is State.ALLOW}
        assert audit.passes
        assert {one.claim for one in envelope.claims} <= allowed
        judged = {c.claim.text for c in verified.claims if not isinstance(c.outcome, SetAside)}
        assert {*envelope.unverified, *(one.claim for one in envelope.claims)} == judged
    assert envelope_of(showcase()).claims
