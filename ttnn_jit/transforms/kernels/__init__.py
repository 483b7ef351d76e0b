"""Kernels in the making: their shapes, bodies, fusion, order and DST slots."""
