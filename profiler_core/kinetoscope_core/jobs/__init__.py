"""What somebody asks for, whole: profile a script, read traces. From the request to a stored result."""
