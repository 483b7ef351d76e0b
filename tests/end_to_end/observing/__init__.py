"""Output for users: tracebacks, graphs, reports, comparison with goldens."""
