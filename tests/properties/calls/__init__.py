"""Calls and the objects around them: keys, guards, frontends."""
