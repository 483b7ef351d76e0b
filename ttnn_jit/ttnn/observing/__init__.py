"""Observers of operations: hooks, graphs, reports, and comparison with goldens."""
