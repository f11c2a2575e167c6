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
    # Transactions are the business of db.migrate and of the steps of each revision.
    transaction_per_migration=False,
    on_version_apply=attributes.get("on_version_apply"),
    stepwise=attributes.get("stepwise"),
    trial=attributes.get("trial"),
    report=attributes.get("report"),
)
context.run_migrations()
