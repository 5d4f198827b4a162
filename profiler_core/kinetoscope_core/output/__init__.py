"""Results as people and other tools read them: a terminal, SARIF."""
