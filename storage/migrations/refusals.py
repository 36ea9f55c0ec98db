"""What migrations share. Released migrations use it: add to it, never change what it does."""

from __future__ import annotations

from alembic import op


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


def refuse(statement: str, table: str) -> None:
    """Make triggers by which the database refuses that statement (UPDATE or DELETE) on the table."""
    dialect = op.get_bind().dialect.name
    name, kept = refusal(statement, table, dialect)
    if dialect == "sqlite":
        op.execute(kept)
        return
    op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {kept} $$")
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {statement} ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {name}()"
    )
    if statement == "DELETE":
        op.execute(
            f"CREATE TRIGGER {name}_all BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        )
