"""Steps of the host's compile that make one launch of several."""
