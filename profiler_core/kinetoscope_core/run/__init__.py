"""A run of a script: what to run, the process of the user's interpreter, how it ends. Knows no trace and no number."""
