"""The Python that jitted functions are written in, and the tensors that they handle as objects."""
