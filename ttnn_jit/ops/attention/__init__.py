"""Attention, its caches and rotary embeddings."""
