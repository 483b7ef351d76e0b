"""From the plan of one device to the plan of a mesh: launches by device, and the launches of collectives."""
