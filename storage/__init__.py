"""The database behind the workbench: records in, records out; it knows no reasoning about claims.

engine      which database, and how it is read and written
tables      the tables (SQLModel); columns: the two column types of our own
migrate     brings a database to the newest schema at start, under a lock
records     what reading gives back
traces, verdicts, imports, audit     one noun a module, each a few statements on a connection
store       all of it as one object; implements core.ports.Store
workspace   one database with a repository a noun; what workflows and front doors are given

The workbench, on top of a store:

people, projects, guidelines    who works here, how claims are reviewed, what words mean; by leads
claims, queue, standing         claims of verdicts, where they stand in a queue, how far they are
assignments, annotations, adjudications   who holds which reading, and what people said
reviews     all of review as one object; implements core.review.ports.ReviewStore
labels      what stands for each claim that people have read
packets     what an export reads, what an import adds, who signed which packet
trail       the audit trail as people read it: filtered, by name, exported
"""
