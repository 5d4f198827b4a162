"""What stands in a source text: regions, where they are after edits, comments to us. Runs nothing."""
