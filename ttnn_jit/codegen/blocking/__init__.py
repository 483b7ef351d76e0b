"""Steps of the host's compile that compute a producer inside its consumer's loops, or split a body into parts."""
