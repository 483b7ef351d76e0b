"""Reductions, scans and losses."""
