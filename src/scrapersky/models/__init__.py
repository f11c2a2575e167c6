"""The records of the pipeline."""
