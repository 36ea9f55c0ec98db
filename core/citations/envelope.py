"""Citation envelopes: claims with source, verbatim evidence, scope and confidence, in four layers (003)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.citations.lenient_json import read_lenient_json, text_fields
from core.citations.normal import Context, norm_v1
from core.citations.resolvers import Found, Place, Resolver, provenance_form, resolver_of
from core.citations.rules import content_tokens, held
from core.errors import InputError
from core.evidence.comparing import dates_agree
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import QuantityKind
from core.records import Judged, SetAside, State, Verification, state_of

CONFIDENCES = ("high", "med", "low")
GUESS = "guess"


class Layer(StrEnum):
    """The four properties of a well-cited claim."""

    EXISTS = "L1_source_exists"
    DERIVABLE = "L2_claim_derivable"
    SCOPE = "L3_no_over_extension"
    RESOLVES = "L4_resolves"


class LayerOutcome(StrEnum):
    """What a layer found; ``not_resolvable_here`` is never a pass."""

    PASSES = "passes"
    FAILS = "fails"
    NOT_RESOLVABLE_HERE = "not_resolvable_here"
    NOT_CHECKED = "not_checked"


class AntiPattern(StrEnum):
    """The failures that seed 003 names."""

    INVENTED_CITE = "invented_cite"
    PARAPHRASED_EVIDENCE = "paraphrased_evidence"
    UNIVERSAL_CLAIM = "universal_claim"
    DROPPED_UNVERIFIED = "dropped_unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeClaim:
    """One claim of an envelope, as given."""

    claim: str
    source: str
    evidence: str
    scope: str | None = None
    confidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Claims with their sources, and those that have none."""

    claims: tuple[EnvelopeClaim, ...]
    unverified: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayerFinding:
    """What one layer found for one claim."""

    layer: Layer
    outcome: LayerOutcome
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAudit:
    """The four layers of one claim, the anti-patterns that they show, and the place it leads to."""

    index: int
    claim: EnvelopeClaim
    layers: tuple[LayerFinding, ...]
    anti_patterns: tuple[AntiPattern, ...]
    place: Place | None

    @property
    def passes(self) -> bool:
        """Whether every layer passes."""
        return all(one.outcome is LayerOutcome.PASSES for one in self.layers)

    def outcome(self, layer: Layer) -> LayerOutcome:
        """What that layer found."""
        return next(one.outcome for one in self.layers if one.layer is layer)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeAudit:
    """A whole envelope: its claims, what it says it could not verify, and what it left out."""

    claims: tuple[ClaimAudit, ...]
    unverified: tuple[str, ...]
    dropped: tuple[str, ...]
    fixups: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether every claim passes and nothing that was asked is missing."""
        return all(one.passes for one in self.claims) and not self.dropped


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEnvelope:
    """An envelope and the repairs that reading it took."""

    envelope: Envelope
    fixups: tuple[str, ...]
    lost: tuple[str, ...]


def read_envelope(raw: str | bytes) -> ReadEnvelope:
    """The envelope in ``raw``; InputError names the JSON path of the first field that is wrong."""
    read = read_lenient_json(raw)
    value = read.value
    if not isinstance(value, Mapping):
        raise InputError(f"expected an object, found {type(value).__name__}", path="envelope")
    items, unverified = value.get("claims"), value.get("unverified", [])
    if not isinstance(items, list):
        raise InputError(f"expected a list, found {type(items).__name__}", path="claims")
    if not isinstance(unverified, list) or not all(isinstance(u, str) for u in unverified):
        raise InputError("expected a list of text", path="unverified")
    claims = tuple(_claim(item, f"claims[{number}]") for number, item in enumerate(items))
    return ReadEnvelope(
        envelope=Envelope(claims=claims, unverified=tuple(unverified)),
        fixups=read.fixups,
        lost=read.dropped,
    )


def _claim(item: object, path: str) -> EnvelopeClaim:
    texts = text_fields(item, ("claim", "source", "evidence", "scope", "confidence"), path)
    assert isinstance(item, Mapping)
    if not texts["claim"].strip():
        raise InputError("expected the assertion", path=f"{path}.claim")
    if item.get("confidence") not in (None, *CONFIDENCES):
        found = texts["confidence"]
        raise InputError(f"expected high, med or low, found {found!r}", path=f"{path}.confidence")
    return EnvelopeClaim(
        claim=texts["claim"],
        source=texts["source"],
        evidence=texts["evidence"],
        scope=item.get("scope"),
        confidence=item.get("confidence"),
    )


# -- the four layers -------------------------------------------------------------------------------


def audit_envelope(
    read: ReadEnvelope | Envelope, resolver: Resolver, *, asked: Sequence[str] = ()
) -> EnvelopeAudit:
    """Each claim in its four layers; ``asked`` are the points that the envelope had to speak to."""
    envelope = read.envelope if isinstance(read, ReadEnvelope) else read
    claims = tuple(_audited(one, number, resolver) for number, one in enumerate(envelope.claims))
    return EnvelopeAudit(
        claims=claims,
        unverified=envelope.unverified,
        dropped=_dropped(envelope, asked),
        fixups=read.fixups if isinstance(read, ReadEnvelope) else (),
        lost=read.lost if isinstance(read, ReadEnvelope) else (),
    )


def _audited(claim: EnvelopeClaim, index: int, resolver: Resolver) -> ClaimAudit:
    form = provenance_form(claim.source)
    found = resolver(claim.source) if form not in (None, GUESS) else None
    layers = (
        _exists(claim, form),
        _derivable(claim, form, found),
        _scoped(claim),
        _resolves(claim, form, found),
    )
    outcomes = {one.layer: one.outcome for one in layers}
    patterns = []
    if outcomes[Layer.RESOLVES] is LayerOutcome.FAILS:
        patterns.append(AntiPattern.INVENTED_CITE)
    if found is not None and found.text is not None and not _verbatim(claim.evidence, found.text):
        # The place has something of it, in other words; nothing of it is an invented cite.
        told = _shares(claim.evidence, found.text)
        patterns.append(AntiPattern.PARAPHRASED_EVIDENCE if told else AntiPattern.INVENTED_CITE)
    if outcomes[Layer.SCOPE] is LayerOutcome.FAILS:
        patterns.append(AntiPattern.UNIVERSAL_CLAIM)
    if form == GUESS:
        patterns.append(AntiPattern.DROPPED_UNVERIFIED)
    return ClaimAudit(
        index=index,
        claim=claim,
        layers=layers,
        anti_patterns=tuple(dict.fromkeys(patterns)),
        place=found.place if found else None,
    )


def _exists(claim: EnvelopeClaim, form: str | None) -> LayerFinding:
    if form is None:
        given = repr(claim.source[:80]) if claim.source.strip() else "nothing"
        reason = f"expected file:, memory:, git:, web: or guess, found {given}"
        return LayerFinding(Layer.EXISTS, LayerOutcome.FAILS, reason)
    return LayerFinding(Layer.EXISTS, LayerOutcome.PASSES, f"a {form} source")


def _derivable(claim: EnvelopeClaim, form: str | None, found: Found | None) -> LayerFinding:
    if form == GUESS:
        reason = "a guess has no evidence: it belongs to unverified"
        return LayerFinding(Layer.DERIVABLE, LayerOutcome.FAILS, reason)
    if not claim.evidence.strip():
        return LayerFinding(Layer.DERIVABLE, LayerOutcome.FAILS, "no excerpt is given")
    if found is None or found.text is None:
        return LayerFinding(Layer.DERIVABLE, LayerOutcome.NOT_CHECKED, "the place was not found")
    if not _verbatim(claim.evidence, found.text):
        reason = f"the excerpt does not stand there: {' '.join(found.text.split())[:120]!r}"
        return LayerFinding(Layer.DERIVABLE, LayerOutcome.FAILS, reason)
    missing = _numbers_missing(claim.claim, claim.evidence)
    if missing:
        reason = f"the excerpt does not give {', '.join(missing)}"
        return LayerFinding(Layer.DERIVABLE, LayerOutcome.FAILS, reason)
    return LayerFinding(
        Layer.DERIVABLE, LayerOutcome.PASSES, "the excerpt stands there word for word"
    )


# A quotation inside an excerpt says where it begins: Section 3.1: 'We organize …'
_QUOTED = re.compile(r"['‘\"“](.{12,}?)['’\"”](?=[\s.,;)]|\Z)", re.S)


def _verbatim(evidence: str, text: str) -> bool:
    context = Context(text)
    if context.holds(evidence):
        return True
    quoted = _QUOTED.findall(evidence)
    return bool(quoted) and all(context.holds(one) for one in quoted)


def _shares(evidence: str, text: str) -> bool:
    words = content_tokens(evidence.replace("_", " "))
    lowered = text.lower().replace("_", " ")
    return any(held(word, lowered) for word in words)


_NUMBER_IN_CLAIM = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")


def _numbers_missing(claim: str, evidence: str) -> list[str]:
    """The numbers of a claim that its excerpt does not write, in digits, in words or as a date."""
    text = norm_v1(evidence)
    given = [one for one in read_quantities(evidence) if one.kind is QuantityKind.DATE]
    for date in reversed(read_quantities(claim)):
        if any(dates_agree(have, date) for have in given):
            claim = claim[: date.span.start] + claim[date.span.end :]
    words = "zero one two three four five six seven eight nine ten eleven twelve".split()
    missing = []
    for number in _NUMBER_IN_CLAIM.findall(claim):
        plain = number.rstrip(".,")
        named = plain.isdigit() and int(plain) < len(words) and words[int(plain)] in text.split()
        if not held(plain.replace(",", ""), text) and not named:
            missing.append(plain)
    return missing


_UNIVERSAL = re.compile(
    r"\b(?:always|never|every(?:where|one|body|thing)?|all|any|in no case|without exception|"
    r"guaranteed|universally|in general|everybody|nobody|no one|throughout)\b"
    r"|\bin (?:this|the|our) (?:whole |entire )?(?:codebase|code base|project|repository|system|field)\b"
    r"|\b(?:users|people|experts|researchers|studies) (?:agree|say|think|believe|prefer)\b",
    re.I,
)
_KNOWN_SCOPES = re.compile(r"\s*(?:file|commit|context-bounded|as[- ]of\s+\S.*)\s*", re.I)


def _scoped(claim: EnvelopeClaim) -> LayerFinding:
    """A claim may be as wide as its excerpt says, or as its scope names, and no wider."""
    evidence = norm_v1(claim.evidence)
    bounded = norm_v1(claim.scope or "")
    wide = [
        match.group()
        for match in _UNIVERSAL.finditer(claim.claim)
        if norm_v1(match.group()) not in evidence
        and not (match.group().lower().startswith("in ") and match.group().lower() in bounded)
    ]
    if wide:
        reason = f"{', '.join(map(repr, wide))} goes beyond one place that says it"
        return LayerFinding(Layer.SCOPE, LayerOutcome.FAILS, reason)
    if claim.scope is None:
        return LayerFinding(Layer.SCOPE, LayerOutcome.PASSES, "nothing universal is claimed")
    form = "a scope" if _KNOWN_SCOPES.fullmatch(claim.scope) else "a scope in free words"
    return LayerFinding(Layer.SCOPE, LayerOutcome.PASSES, f"{form}: {claim.scope}")


def _resolves(claim: EnvelopeClaim, form: str | None, found: Found | None) -> LayerFinding:
    if form == GUESS:
        return LayerFinding(
            Layer.RESOLVES, LayerOutcome.NOT_CHECKED, "a guess leads nowhere, and says so"
        )
    if found is None:
        return LayerFinding(Layer.RESOLVES, LayerOutcome.FAILS, "there is nothing to resolve")
    if found.elsewhere:
        return LayerFinding(Layer.RESOLVES, LayerOutcome.NOT_RESOLVABLE_HERE, found.reason)
    outcome = LayerOutcome.PASSES if found.text is not None else LayerOutcome.FAILS
    return LayerFinding(Layer.RESOLVES, outcome, found.reason)


def _dropped(envelope: Envelope, asked: Sequence[str]) -> tuple[str, ...]:
    """What was asked and neither claimed nor listed as unverified, and guesses that are not listed."""
    said = [*(one.claim for one in envelope.claims), *envelope.unverified]
    heard = [frozenset(content_tokens(text)) for text in said]
    missing = []
    for point in asked:
        words = frozenset(content_tokens(point))
        if words and not any(len(words & each) * 2 > len(words) for each in heard):
            missing.append(point)
    listed = {norm_v1(text) for text in envelope.unverified}
    guesses = [one.claim for one in envelope.claims if one.source.strip().lower() == GUESS]
    return (*missing, *(claim for claim in guesses if norm_v1(claim) not in listed))


# -- the emit side ---------------------------------------------------------------------------------


def envelope_of(verified: Verification) -> Envelope:
    """The envelope of a verified answer: a claim is emitted only when it passes, and its cite all layers.

    A source is named by the page that it was fetched from, else as a memory of the captured run; the
    excerpt is what the verifier read. All other claims stand in ``unverified``.
    """
    sources, claims, unverified = verified.trace.sources, [], []
    resolve = resolver_of(sources)
    for verdict in verified.claims:
        if isinstance(verdict.outcome, SetAside):
            continue
        outcome, text = verdict.outcome, verdict.claim.text
        if isinstance(outcome, Judged) and state_of(verdict) is State.ALLOW:
            source = verified.trace.source(outcome.premise.source_id)
            page = (source.uri or "").startswith(("http://", "https://"))
            emitted = EnvelopeClaim(
                claim=text,
                source=f"web:{source.uri}" if page else f"memory:{source.source_id}",
                evidence="\n".join(span.cut(source.text) for span in outcome.premise.spans),
                scope="context-bounded",
                confidence="high",
            )
            if _audited(emitted, 0, resolve).passes:
                claims.append(emitted)
                continue
        unverified.append(text)
    return Envelope(claims=tuple(claims), unverified=tuple(unverified))
