"""Making and changing ops at a fraction of the price that xDSL asks."""
