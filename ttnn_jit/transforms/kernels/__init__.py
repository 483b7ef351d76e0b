"""Construction of kernels: iteration space, body, fusion, schedule and DST slots."""
