"""Measurements of speed and accuracy, and how the constants of the kernels were fitted."""
