"""Packing and unpacking of block-float tiles, with numpy, with numba and in native loops."""
