"""Schedules as values: kernels, their stages, the loops around them, and their tensors."""
