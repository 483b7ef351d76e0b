"""What a launch runs, as values: kernels, stages, the loops around them, and their tensors."""
