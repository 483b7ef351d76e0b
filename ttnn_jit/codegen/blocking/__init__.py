"""Steps of the host's compile that run a producer inside of its consumer's loops, or a body in parts."""
