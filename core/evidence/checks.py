"""The front door of the evidence: what a trace's sources state, and what that says of a claim.

``read_trace_facts`` reads every source once for all claims of its answer; ``check_claim`` compares
one claim with it and gives checks that support, contradict or are silent (evidence.md, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass

from core.records import Check, Claim, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFacts:
    """The facts of one trace, read once; ``trace`` is what they were read from."""

    trace: Trace


def read_trace_facts(trace: Trace) -> TraceFacts:
    """The typed facts of every source of the trace that can be evidence, and of its calls."""
    return TraceFacts(trace=trace)


def check_claim(claim: Claim, facts: TraceFacts) -> tuple[Check, ...]:
    """What the facts say of one claim, in a fixed order; empty when no check applies."""
    return ()
