MINE = "regionlog of the user"
