"""The database behind the workbench: records in, records out; it knows no reasoning about claims.

engine      which database, and how it is read and written
tables      the tables (SQLModel); columns: the two column types of our own
migrate     brings a database to the newest schema at start, under a lock
records     what reading gives back
traces, verdicts, imports, audit     one noun a module, each a few statements on a connection
store       all of it as one object; implements core.ports.Store
first_start the sample traces, loaded and verified before the first page opens
"""
