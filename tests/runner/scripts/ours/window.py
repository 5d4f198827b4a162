MINE = "window of the user"
