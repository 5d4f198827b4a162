MINE = "session of the user"
