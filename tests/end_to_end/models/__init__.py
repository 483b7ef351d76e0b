"""Models, and what public programs write."""
