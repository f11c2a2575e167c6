"""PostgreSQL: the embedded server, connections, migrations, checks."""
