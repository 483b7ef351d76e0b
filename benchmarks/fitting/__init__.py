"""The fits of the polynomials and tables of kernels/."""
