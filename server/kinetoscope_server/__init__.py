"""A language server over `kinetoscope_core`: the only package that knows the Language Server Protocol."""
