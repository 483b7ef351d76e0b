"""What benchmarks stand on: steps, processes, turns, programs, tables and plots."""
