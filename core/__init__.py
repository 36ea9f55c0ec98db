"""ProvenanceGuard: does each claim of a tool-using agent's answer rest on the source it credits?

The stage table. ``pipeline.verify`` runs it top to bottom; a test holds it against the files.

    paper   module                  in → out
    III.1   evidence                Trace, claims → Evidence (each source on its own, never pooled)
    III.2   stages/claims           Trace → Claim…
    III.3   stages/routing          Claim, sources → ranking; ranking, readings → Route
    III.3   stages/premise          Claim, source → Premise
    III.4   stages/nli              PairReading → Entailment
    III.4   stages/alignment        PairReading → Alignment
    III.4   stages/literals         Claim, Premise, Entailment → LiteralCheck
    III.5   stages/features         all of the above → Features
    III.5   stages/calibration      probability, threshold → Support
    III.6   stages/attribution      Claim, Route, Support → Attribution
    III.7   stages/decision         ClaimVerdict… → AnswerDecision
    III.8   stages/repair           Verification, verify → Repair
    App.    stages/report           Verification → JSON

Imports point down only: workflows, training, (evaluation | review), (bootstrap |
statistics), (pipeline | models | importers | exporters), evidence, stages, text, documents, ports,
config, records, errors. No stage imports another.
"""
