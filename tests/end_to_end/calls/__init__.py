"""Calls of jitted functions: arguments, warm calls, and the program that a call finds."""
