"""The common parts of benchmarks: steps, processes, turns, programs, tables and plots."""
