"""Tiles of block floats: packed and unpacked, by numpy, by numba and in native loops."""
