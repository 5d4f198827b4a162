"""Python source as trees, also while it is broken, and what a name means at a place. Knows nothing of regions."""
