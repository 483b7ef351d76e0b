"""From the arguments of a call to its program: keys of metadata, the warm path, results."""
