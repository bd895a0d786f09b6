"""Runs Alembic's migrations on the connection that `rocktune.ledger.opening` provides."""

from alembic import context

from rocktune.ledger.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    # SQLite can change a column only by copying its whole table.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
