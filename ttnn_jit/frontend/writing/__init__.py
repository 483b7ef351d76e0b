"""What a frontend writes: operations, with what their calls ask of results."""
