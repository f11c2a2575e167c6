"""How right the readers are: annotated pages, and the order in which pages are read."""
