"""Webhooks: changes posted to addresses that tenants name, signed and in order."""
