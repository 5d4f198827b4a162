"""What the server answers: one file a feature of LSP, and our own requests and commands."""
