"""Ranks: meshes shared by several ranks, sockets, failures, and the commands that start ranks."""
