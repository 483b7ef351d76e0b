"""The parser, the printer (mlir-opt's syntax) and the content of modules for cache keys."""
