"""The story of a region, where the mouse rests and in what is made of it."""
