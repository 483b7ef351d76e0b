"""Passes over d2m, one file each."""
