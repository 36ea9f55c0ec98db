"""packet_readme: the page in a packet that explains its files and columns."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from core.records import JsonObject
from core.workflows.manifest import MANIFEST, SIGNATURES
from core.workflows.packet_tables import CLAIM_COLUMNS, VOTE_COLUMNS

PACKET, TRACES, VERDICTS = "packet.jsonl", "traces.jsonl", "verdicts.jsonl"
ANNOTATIONS, PREFERENCES, SUPERSEDED = "annotations.jsonl", "preferences.jsonl", "superseded.jsonl"
TRAIL, GUIDELINE, REPORTS = "audit_trail.jsonl", "guideline.jsonl", "reports"


class PacketFormat(StrEnum):
    """What a packet may hold besides what reads it back."""

    CSV = "csv"
    PARQUET = "parquet"
    OPENINFERENCE = "openinference"
    PREFERENCES = "preferences"


EVERY_FORMAT = frozenset(PacketFormat)
FILES_OF: Mapping[PacketFormat, tuple[str, ...]] = {
    PacketFormat.CSV: ("claims.csv", "votes.csv"),
    PacketFormat.PARQUET: ("claims.parquet", "votes.parquet"),
    PacketFormat.OPENINFERENCE: (ANNOTATIONS,),
    PacketFormat.PREFERENCES: (PREFERENCES,),
}
FILES: Mapping[str, str] = {
    PACKET: "One reviewed claim a line: the claim, its sources, its label, every reading and "
    "tie-break.",
    "claims.csv": "One row a claim. A text that a spreadsheet would take for a formula has an "
    "apostrophe in front.",
    "claims.parquet": "The same with types, every text exactly as it is.",
    "votes.csv": "One row a reading.",
    "votes.parquet": "The same with types, every text exactly as it is.",
    TRACES: "The captured answers with every tool output, as they were stored.",
    VERDICTS: "What the verifier said about them, with all its measurements.",
    ANNOTATIONS: "The reviews as OpenInference annotations, one trace a line.",
    PREFERENCES: "Pairs of what people preferred to what the machine had said; held-out traces "
    "give none.",
    SUPERSEDED: "Judgements that their own reviewer, or another decision, replaced since, as they were "
    "written.",
    TRAIL: "The events of the audit trail that tell of these claims.",
    GUIDELINE: "The versions of the guideline.",
    MANIFEST: "The SHA-256 of every file, the filters, what was left out.",
    SIGNATURES: "Who signed the packet, when and with which meaning, once somebody has.",
}
REPORT_FILE = (
    f"{REPORTS}/index.html",
    "A page for people for each trace: the answer with its claims marked, every reading with its "
    "reason, the sources in full.",
)


def files_of(formats: frozenset[PacketFormat]) -> dict[str, str]:
    """The files of a packet with these formats, each with what it holds."""
    absent = {name for each in EVERY_FORMAT - formats for name in FILES_OF[each]}
    return {name: words for name, words in FILES.items() if name not in absent}


def packet_readme(
    about: JsonObject,
    *,
    reports: bool,
    pdf: bool,
    formats: frozenset[PacketFormat] = EVERY_FORMAT,
) -> str:
    """The text of README.md for a packet with that manifest."""
    left_out = about["left_out"]
    assert isinstance(left_out, Mapping)
    missing = "".join(f"\n- {count}: {reason}" for reason, count in left_out.items()) or " none."
    files = files_of(formats)
    if reports:
        name, words = REPORT_FILE
        files[name] = words + (" Beside each page, the same as PDF." if pdf else "")
    columns = {
        part: "\n".join(f"| `{name}` | {words} |" for name, (_, words) in columns.items())
        for part, columns in (("claims", CLAIM_COLUMNS), ("votes", VOTE_COLUMNS))
    }
    return f"""# Adjudicated packet

{about["claims"]} claims of {about["traces"]} traces with {about["votes"]} readings, exported
{about["exported_at"]}.

Claims left out, and why:{missing}

| file | what it holds |
|---|---|
{chr(10).join(f"| `{name}` | {words} |" for name, words in files.items())}

- Check that nothing was changed: `provenanceguard audit verify --packet FOLDER`
- Read it into another workbench: `provenanceguard import FOLDER`; reading it again changes nothing.
- Score a verifier against it: `provenanceguard evaluate FOLDER/{PACKET}`

## A line of `{PACKET}`

- `label`: what stands; null while the readings differ. `relation` is the same as a relation.
- `gold_source_ids`: the source that says it; empty when no source does.
- `gold_attribution`: `conflation` when the answer credits another source.
- `adjudication.status`: how the label came about: a `single` reading, `unanimous` readings,
  `adjudicated` by a third person, or `unresolved`.
- `adjudication.votes`: every reading as it stands. `saw_model_output`: the verifier's view was shown
  before this judgement; `changed_after_reveal`: the reviewer changed it then.
- `adjudication.inclusion_probability`: the probability with which the claim was drawn for the random
  audit; null when it was queued for another reason.
- `citations`: what the answer cites for the claim, each with where it leads and whether that says it:
  `says_it`, `says_otherwise`, `silent`, `resolves_to_nothing` or `not_resolvable_here`.
- `review_record`: what another workbench needs to keep the very same readings.

## Columns of `claims`

| column | meaning |
|---|---|
{columns["claims"]}

## Columns of `votes`

| column | meaning |
|---|---|
{columns["votes"]}
"""
