"""ProvenanceGuard: does each claim of a tool-using agent's answer rest on the source it credits?

The stage table. ``pipeline.verify`` runs it top to bottom; a test holds it against the files.

    paper   module                  in → out
    III.1   verification/prepare    Trace, claims → Evidence (each source on its own, never pooled)
    III.2   decomposition/claims    Trace → Claim…
    III.4   evidence/checks         Trace → facts; Claim, facts → Check…
    004     distortions/checks      Claim, prose of the sources → Check…
    III.3   verification/candidates Claim, evidence, vectors → windows to read; NLI scores → Route
    III.3   verification/premise    Claim, source → Premise, and the least that could show the claim
    III.4   verification/reading    NliScore → Entailment, Alignment, LiteralCheck; Case → Judged
    III.5   verification/features   all of the above → Features
    III.6   attribution/attribute   Claim, Route, Support → Attribution
    III.6   citations/claims        Trace, claims → CitationFinding… of each claim
    III.7   verification/decision   Features, calibrator → Support, ClaimVerdict, AnswerDecision
    IV.2    judge/proof             Claim, JudgeReading, Trace → Proof
    004     provenance/analyse      Verification → ProvenanceReport
    III.8   repair/loop             Verification, verify → Repair
    App.    codec/verdicts          Verification ⇄ JSON

What the stages stand on: ``capture`` reads and writes traces of every format, ``decomposition``
splits answers, ``attribution`` knows families and cues, ``evidence`` values and names, ``text``
sentences and words. Imports point down only: workflows, calibration, (evaluation | review),
(bootstrap | statistics), (pipeline | models), judge, (citations | repair), provenance,
verification, (distortions | capture), decomposition, attribution, evidence, text, codec, ports,
config, identity, causes, records, errors, places.
What makes the shipped weights is ``training/``, beside ``core`` and not in the wheel.
"""
