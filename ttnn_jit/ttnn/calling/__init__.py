"""Calls of the host API, of operations and of host functions: binding, checks and dispatch."""
