"""How the script's process ends, and that nothing is lost when it does."""
