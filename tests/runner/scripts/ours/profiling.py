MINE = "profiling of the user"
