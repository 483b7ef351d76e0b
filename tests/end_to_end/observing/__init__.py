"""What users are told: tracebacks, graphs, reports, comparison with goldens."""
