"""Locks, forks and interrupts."""
