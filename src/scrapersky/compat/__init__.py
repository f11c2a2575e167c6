"""Names that libraries do not promise to keep: one module per library, each with a test.

The versions of these libraries have an upper bound; a new one is let in when its tests pass.
"""
