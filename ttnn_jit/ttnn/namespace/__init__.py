"""Which names `ttnn` has: what loads when it is asked for, what is mirrored, and `import ttnn` itself."""
