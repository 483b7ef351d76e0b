"""Vector math: every function that an `emit` may use, each as one algorithm over primitives."""
