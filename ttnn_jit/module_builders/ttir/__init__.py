"""The builder of TTIR."""
