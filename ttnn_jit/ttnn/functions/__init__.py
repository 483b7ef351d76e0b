"""Host functions that are composed of operations."""
