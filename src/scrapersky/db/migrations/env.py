"""Run by Alembic: apply the revisions on the connection that db.migrate hands over."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    target_metadata=attributes.get("metadata"),
    compare_type=True,
    compare_server_default=False,
    include_schemas=True,
    include_name=attributes.get("include_name"),
    # One transaction for all revisions: an interrupted upgrade leaves no trace.
    transaction_per_migration=False,
)
context.run_migrations()
