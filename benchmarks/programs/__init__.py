"""What programs cost: compiled, called, in memory, in traces, as whole models."""
