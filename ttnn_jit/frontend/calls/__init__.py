"""What a call does while a function is compiled, and the functions of Python that programs may call."""
