"""The builder of TTNN."""
