MINE = "script of the user"
