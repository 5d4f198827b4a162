"""A run that somebody asked for: its request, its worker process, how far it is, and the next run's worker."""
