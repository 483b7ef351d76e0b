"""Functions of the host API that are written over operations."""
