"""Calls while a function is compiled, and the functions of Python that programs may call."""
