MINE = "signal of the user"
