"""The project itself: its documents, its package, its commands."""
