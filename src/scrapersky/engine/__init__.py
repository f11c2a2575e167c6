"""The Curation SDK: any status column becomes a crash-safe queue."""
