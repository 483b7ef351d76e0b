"""Programs as data: launches, exchanges with other ranks, checks of their bounds, host costs, and the file format."""
