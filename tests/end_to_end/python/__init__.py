"""The Python of jitted functions, and tensors as Python objects."""
