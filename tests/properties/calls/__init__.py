"""Calls and the worlds around them: keys, guards, frontends."""
