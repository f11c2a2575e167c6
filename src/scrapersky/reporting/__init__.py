"""What dashboards ask the database: how stages stand, what failed, what is where."""
