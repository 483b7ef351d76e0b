"""Programs as data: launches, checks of their bounds, host costs, and the file format."""
