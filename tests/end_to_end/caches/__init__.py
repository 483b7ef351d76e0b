"""Programs that are cached in memory and on disk."""
