"""Passes over TTIR and StableHLO that no pipeline over texts here runs, one file for each."""
