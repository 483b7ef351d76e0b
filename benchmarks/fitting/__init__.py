"""Where the polynomials and tables of kernels/ come from."""
