MINE = "imports of the user"
