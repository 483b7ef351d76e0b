"""Calls of jitted functions: arguments, warm calls, which program a call finds."""
