"""Steps of the host's compile that fuse launches."""
