"""Regions as the script enters them: where, under which name, and which of their calls are measured."""
