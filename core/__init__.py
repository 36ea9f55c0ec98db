"""ProvenanceGuard: does each claim of a tool-using agent's answer rest on the source it credits?

The stage table. ``pipeline.verify`` runs it top to bottom; a test holds it against the files.

    paper   module                  in → out
    III.1   indexing                Trace, claims → Evidence (each source on its own, never pooled)
    III.2   decomposition/claims    Trace → Claim…
    III.4   evidence/checks         Trace → facts; Claim, facts → Check…
    004     provenance/distortions/checks   Claim, prose of the sources → Check…
    III.3   judging/cases           Claim, evidence, vectors → candidates and windows to read
    III.3   stages/routing          Claim, sources → ranking; ranking, readings → Route
    III.3   stages/premise          Claim, source → Premise
    III.3   judging/closest         Claim, checks, source → the least of it that could show the claim
    III.4   stages/entailment       PairReading → Entailment
    III.4   stages/alignment        PairReading → Alignment
    III.4   stages/literals         Claim, Premise, Entailment → LiteralCheck
    III.5   stages/features         all of the above → Features
    III.5   stages/calibration      probability, threshold → Support
    III.6   decide                  Measurements, calibrator → Judged
    III.6   attribution/attribute   Claim, Route, Support → Attribution
    III.6   citations/claims        Trace, claims → CitationFinding… of each claim
    III.7   stages/decision         ClaimVerdict… → AnswerDecision
    IV.2    judge/proof             Claim, JudgeReading, Trace → Proof
    004     provenance/analyse      Verification → ProvenanceReport
    III.8   repair/loop             Verification, verify → Repair
    App.    codec/verdicts          Verification ⇄ JSON

What the stages stand on: ``capture`` reads and writes traces of every format, ``decomposition``
splits answers, ``attribution`` knows families and cues, ``evidence`` values and names, ``text``
sentences and words. Imports point down only: workflows, calibration, (evaluation | review),
(bootstrap | statistics), (pipeline | models), judge, (citations | judging | repair),
provenance, (decide | indexing), (stages | capture), decomposition, attribution, evidence, text,
codec, ports, config, identity, causes, records, errors, places. No stage imports another.
What makes the shipped weights is ``training/``, beside ``core`` and not in the wheel.
"""
