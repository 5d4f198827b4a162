"""LSP as messages: transport, JSON, names, and what the client can do. Knows nothing of regions."""
