"""The kinetoscope command."""
