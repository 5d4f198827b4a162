MINE = "tempfile of the user"
