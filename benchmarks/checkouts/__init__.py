"""Checkouts beside each other: what they compile, how fast, and in how many lines."""
