"""From the plan of one device to that of a mesh: launches by device, those of collectives, and exchanges of ranks."""
