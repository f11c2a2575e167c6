"""The page in a real browser. A package, so that browser and application end with it."""
