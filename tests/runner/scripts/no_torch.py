"""No torch at all."""

print("nothing to see")
