"""Writing the module: its operations, element types, result layouts and the rules of kernels."""
