"""An MCP server: a few verbs for language models, each a call of the API with its rights."""
