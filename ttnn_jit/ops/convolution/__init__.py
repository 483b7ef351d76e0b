"""Convolutions, pooling, and resampling of images."""
