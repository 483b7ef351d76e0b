"""Compiled programs and their calls, and what they exchange with other ranks."""
