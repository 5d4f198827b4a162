MINE = "queue of the user"
