"""The project: its documents, its package, its commands."""
