"""Frozen records that pass between stages. Spans are half-open code-point ranges ``[start, end)``.

Read in order (trace, claims, measurements, evidence, decisions, edits, repair), this is the life of
a claim: a trace comes in with its sources, the answer is split into claims, each is routed, read,
aligned, checked, calibrated, attributed and decided.
"""

# ruff: noqa: F403  # every record is re-exported
from core.records.basics import *
from core.records.citations import *
from core.records.claims import *
from core.records.decisions import *
from core.records.edits import *
from core.records.evidence import *
from core.records.imports import *
from core.records.measurements import *
from core.records.repair import *
from core.records.shares import *
from core.records.state import *
from core.records.summary import *
from core.records.trace import *
