"""Bring a database to the newest schema, under a lock, in one transaction.

An empty database gets the tables as they are declared, and triggers by which it refuses to change or
remove what is only ever added. One of 0.19.0 is carried on from there; an older one by 0.19.0 first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from sqlalchemy import Connection, inspect, text
from sqlmodel import SQLModel

from core.errors import StoreError
from storage.audit import TOLD
from storage.engine import Database
from storage.queue import fill_passes
from storage.seals import APPENDED, add_seal, table_of
from storage.tables import AuditEvent, ImportRecord, PacketSignatureRow, TrailSeal
from storage.verdicts import fill_blocks, fill_states

NEWEST = "0021"
FIRST_CARRIED = "0011"  # of 0.19.0

# Rows of these are only ever added, and the database itself refuses to change or to remove one.
_KEPT = {table_of(each).name for each in TOLD} | {
    each.__tablename__ for each in (AuditEvent, TrailSeal, PacketSignatureRow)
}
_UNCHANGED = _KEPT | {table_of(each).name for each in APPENDED} - {ImportRecord.__tablename__}
REFUSED = (
    *(("UPDATE", name) for name in sorted(_UNCHANGED)),
    *(("DELETE", name) for name in sorted(_KEPT)),
)


def migrate(database: Database) -> None:
    """Bring to the newest schema; raises StoreError for a database that is newer, or before 0.19.0.

    Several processes may start at once: the first holds the write lock, the others find the work
    done. A migration that fails leaves the database as it was.
    """
    with database.reading() as connection:
        if revision(connection) == NEWEST:
            return
    with database.writing() as connection:
        found = revision(connection)
        if found == NEWEST:
            return
        if found is None:
            _create(connection)
        else:
            _check(found, database.name)
            while found != NEWEST:
                found, step = STEPS[found]
                step(connection)
            connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": NEWEST})
            add_seal(connection)  # of everything that is there


def revision(connection: Connection) -> str | None:
    """The schema revision that the database says it has; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def refusal(statement: str, table: str, dialect: str) -> tuple[str, str]:
    """The trigger's name, and what the database keeps of it: SQLite its SQL, PostgreSQL its function's."""
    message = f"{table} is append-only: {statement} refused"
    name = f"{table}_refuses_{statement.lower()}"
    if dialect == "sqlite":
        return name, (
            f"CREATE TRIGGER {name} BEFORE {statement} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
    return name, f"BEGIN RAISE EXCEPTION '{message}'; END"


def _check(found: str, name: str) -> None:
    if found in STEPS:
        return
    if found < FIRST_CARRIED:
        raise StoreError(
            f"database {name}: its schema {found} is older than 0.19.0 ({FIRST_CARRIED}); "
            "open it once with 0.19.0, which brings it on, then with this program"
        )
    raise StoreError(
        f"database {name}: its schema {found} is newer than this program knows ({NEWEST}); "
        "use the newer program, or another database"
    )


def _create(connection: Connection) -> None:
    SQLModel.metadata.create_all(connection, checkfirst=False)
    for statement, table in REFUSED:
        _refuse(connection, statement, table)
    connection.execute(
        text(
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
            "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
    )
    connection.execute(text("INSERT INTO alembic_version VALUES (:v)"), {"v": NEWEST})


def _refuse(connection: Connection, statement: str, table: str) -> None:
    """Make triggers by which the database refuses that statement (UPDATE or DELETE) on the table."""
    dialect = connection.dialect.name
    name, kept = refusal(statement, table, dialect)
    if dialect == "sqlite":
        connection.exec_driver_sql(kept)
        return
    run = f"EXECUTE FUNCTION {name}()"
    for made in (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {kept} $$",
        f"CREATE TRIGGER {name} BEFORE {statement} ON {table} FOR EACH ROW {run}",
    ):
        connection.exec_driver_sql(made)
    if statement == "DELETE":
        connection.exec_driver_sql(
            f"CREATE TRIGGER {name}_all BEFORE TRUNCATE ON {table} FOR EACH STATEMENT {run}"
        )


def _keep_states_alone(connection: Connection) -> None:
    """To 0013: the state of every verdict, and no tier, which nothing reads."""
    connection.execute(
        text(
            "CREATE TABLE verdict_state (verdict_id INTEGER NOT NULL, state VARCHAR(12) NOT NULL, "
            "CONSTRAINT pk_verdict_state PRIMARY KEY (verdict_id), "
            "CONSTRAINT fk_verdict_state_verdict_id_verdict FOREIGN KEY (verdict_id) "
            "REFERENCES verdict (verdict_id) ON DELETE CASCADE)"
        )
    )
    fill_states(connection)
    connection.execute(text("DROP TABLE verdict_tier"))
    for table in ("trace_slice", "verdict_cause", "verdict_state"):
        _refuse(connection, "UPDATE", table)


def _let_judgements_say_more(connection: Connection) -> None:
    """To 0014: "not a claim" is an answer, and what few judgements have has a column."""
    before, after = "'not_enough_evidence'", "'not_enough_evidence', 'not_a_claim'"
    if connection.dialect.name == "sqlite":
        # SQLite changes no CHECK; where nothing stored changes with it, its manual (lang_altertable.html,
        # 7) has the schema's own text changed. No row is copied, and every trigger stays.
        version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        for table in _JUDGED:
            connection.execute(
                text("UPDATE sqlite_master SET sql = replace(sql, :b, :a) WHERE name = :t"),
                {"b": before, "a": after, "t": table},
            )
        connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
        connection.exec_driver_sql("PRAGMA writable_schema = OFF")
    else:
        for table in _JUDGED:
            for check in inspect(connection).get_check_constraints(table):
                if "not_enough_evidence" in check["sqltext"]:
                    column = "first_support" if "first_support" in check["sqltext"] else "support"
                    connection.exec_driver_sql(
                        f"ALTER TABLE {table} DROP CONSTRAINT {check['name']}, ADD CONSTRAINT "
                        f"{check['name']} CHECK ({column} IN ('supported', 'unsupported', "
                        f"'contradicted', {after}))"
                    )
    for table in _JUDGED:
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN more TEXT")


_JUDGED = ("vote", "adjudication", "calibration_label")


def _keep_pre_labels(connection: Connection) -> None:
    """To 0015: what judges said of claims, in a table of its own, which can be erased."""
    key = (
        "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
        if connection.dialect.name == "sqlite"
        else "SERIAL NOT NULL CONSTRAINT pk_pre_label PRIMARY KEY"
    )
    connection.execute(
        text(
            f"CREATE TABLE pre_label (pre_label_id {key}, claim_key INTEGER NOT NULL, "
            "document TEXT NOT NULL, CONSTRAINT fk_pre_label_claim_key_claim FOREIGN KEY (claim_key) "
            "REFERENCES claim (claim_key) ON DELETE CASCADE)"
        )
    )
    connection.execute(text("CREATE INDEX ix_pre_label_claim_key ON pre_label (claim_key)"))
    # Before, the trail alone held them: those of claims that are still here come along.
    events = "SELECT entity, detail FROM audit_event WHERE action = :a ORDER BY sequence"
    for entity, detail in connection.execute(text(events), {"a": "claim.pre_labelled"}).all():
        connection.execute(
            text(
                "INSERT INTO pre_label (claim_key, document) "
                "SELECT claim_key, :d FROM claim WHERE claim_key = :k"
            ),
            {
                "k": int(entity.removeprefix("claim ")),
                "d": json.dumps(json.loads(detail)["pre_label"], sort_keys=True),
            },
        )
    _refuse(connection, "UPDATE", "pre_label")


def _least_supported_first(connection: Connection) -> None:
    """To 0016: what waits in queues comes as core/review/sampling.py then placed it."""
    connection.execute(
        text(
            "UPDATE queue SET rank = COALESCE((SELECT CASE WHEN s.attribution = 'conflation' THEN 0 "
            "ELSE s.probability END FROM claim_signal s "
            "WHERE s.claim_key = queue.claim_key ORDER BY s.signal_id DESC LIMIT 1), 1) "
            "WHERE NOT audit"
        )
    )


def _hold_a_prior(connection: Connection) -> None:
    """To 0017: a project may say which share of its agent's claims is supported."""
    connection.execute(text("ALTER TABLE project ADD COLUMN supported_prior FLOAT"))


def _keep_final_labels(connection: Connection) -> None:
    """To 0019: the queue says of a settled claim whether its final label lets it pass."""
    connection.execute(text("ALTER TABLE queue ADD COLUMN passes BOOLEAN"))
    _let_annotations_be_withdrawn(connection)  # before annotations are read
    fill_passes(connection)


def _let_annotations_be_withdrawn(connection: Connection) -> None:
    """To 0019: an annotation that came with an import may be taken back with it."""
    key = (
        "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
        if connection.dialect.name == "sqlite"
        else "SERIAL NOT NULL CONSTRAINT pk_vote_withdrawal PRIMARY KEY"
    )
    at = "DATETIME" if connection.dialect.name == "sqlite" else "TIMESTAMP WITH TIME ZONE"
    of = {
        "project_id": "project",
        "claim_key": "claim",
        "vote_id": "vote",
        "person_id": "person",
    }
    references = ", ".join(
        f"CONSTRAINT fk_vote_withdrawal_{column}_{table} FOREIGN KEY ({column}) "
        f"REFERENCES {table} ({column}){' ON DELETE CASCADE' if table == 'claim' else ''}"
        for column, table in of.items()
    )
    connection.execute(
        text(
            f"CREATE TABLE vote_withdrawal (withdrawal_id {key}, "
            f"{', '.join(f'{column} INTEGER NOT NULL' for column in of)}, at {at} NOT NULL, "
            f"CONSTRAINT uq_vote_withdrawal_vote_id UNIQUE (vote_id), {references})"
        )
    )
    for statement in ("UPDATE", "DELETE"):
        _refuse(connection, statement, "vote_withdrawal")


def _keep_blocking_claims(connection: Connection) -> None:
    """To 0020: which claims are shown to be wrong, and not merely unconfirmed."""
    connection.execute(
        text(
            "CREATE TABLE claim_block (signal_id INTEGER NOT NULL, "
            "CONSTRAINT pk_claim_block PRIMARY KEY (signal_id), "
            "CONSTRAINT fk_claim_block_signal_id_claim_signal FOREIGN KEY (signal_id) "
            "REFERENCES claim_signal (signal_id) ON DELETE CASCADE)"
        )
    )
    fill_blocks(connection)
    _refuse(connection, "UPDATE", "claim_block")


def _show_people_by_another_name(connection: Connection) -> None:
    """To 0021: a person may be called on pages by another name than the recorded one."""
    connection.execute(text("ALTER TABLE person ADD COLUMN shown_as TEXT"))


# Revision → the next one, and how to come to it. A released step is never changed. 0012 and 0018 were
# never released: the table that 0013 drops had one more column in it, and 0018 knew no withdrawal.
STEPS: Mapping[str, tuple[str, Callable[[Connection], None]]] = {
    "0011": ("0013", _keep_states_alone),
    "0012": ("0013", _keep_states_alone),
    "0013": ("0014", _let_judgements_say_more),
    "0014": ("0015", _keep_pre_labels),
    "0015": ("0016", _least_supported_first),
    "0016": ("0017", _hold_a_prior),
    "0017": ("0019", _keep_final_labels),
    "0018": ("0019", _let_annotations_be_withdrawn),
    "0019": ("0020", _keep_blocking_claims),
    "0020": ("0021", _show_people_by_another_name),
}
