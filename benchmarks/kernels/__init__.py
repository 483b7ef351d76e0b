"""How fast kernels are, against peers and against what the machine can do."""
