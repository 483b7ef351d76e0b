"""The passes, one per file; a file has the name of its pass."""
