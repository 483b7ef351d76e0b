"""Frozen values that reach keys: what a tensor, a target and a compile are."""
