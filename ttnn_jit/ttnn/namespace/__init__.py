"""The names of `ttnn`: lazily loaded names, mirrored modules, and the finder behind `import ttnn`."""
