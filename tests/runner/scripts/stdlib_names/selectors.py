MINE = "selectors of the user"
