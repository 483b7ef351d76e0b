"""Loop nests of kernels, one file for each form."""
