"""Random operations against references."""
