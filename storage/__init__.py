"""The database behind the workbench: records in, records out; it knows no reasoning about claims.

engine      which database, and how it is read and written
tables      the tables (SQLModel); columns: the two column types of our own
migrate     brings a database to the newest schema at start, under a lock
records     what reading gives back
audit, seals, checking, trail     the trail: written, sealed, checked, read by people; keys: what seals it
traces, verdicts, claims, listing, erasing     what was verified, a few statements on a connection a noun
store       all of it as one object; implements core.ports.Store
workspace   one database with a repository a noun; what workflows and front doors are given

The workbench, on top of a store:

people, projects, guidelines, preferences    who works here, how claims are reviewed, what words mean
queue, assignments, annotations, reviews     where claims stand, who holds them, what people said
labels, splits, rounds, calibrators          what stands for each claim, and what is fitted to it
packets, packet_intake                       what an export reads, what an import adds, who signed
triage, exposure_log, repairs, jobs          marks, who saw which verdict, repairs, what waits for workers
"""
