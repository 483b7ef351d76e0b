"""Cores, shard arithmetic and memory configs."""
