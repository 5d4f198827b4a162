"""A run that somebody asked for: its order, its worker process, how far it is, and the next run's worker."""
