"""What watches operations: hooks, graphs, reports, and comparison with goldens."""
