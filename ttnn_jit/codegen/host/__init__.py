"""What the host makes of a scheduled module: a plan of launches, taken through the steps of `host_steps`."""
