"""The stages of the pipeline, one file each; they meet only in the database."""
