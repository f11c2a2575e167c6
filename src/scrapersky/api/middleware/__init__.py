"""What every request passes: limits, tenancy, its one transaction, idempotency."""
