"""A command of any kind, measured in all of its processes."""
