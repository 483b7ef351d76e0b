"""Vector math and loops: what native kernels are built with."""
