"""Results as values and as JSON, and the store that keeps them."""
