MINE = "channel of the user"
