"""The speed of kernels, against peers and against the peaks of the machine."""
