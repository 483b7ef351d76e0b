"""The loops of kernels, over shapes and layouts."""
