"""From a scheduled module to kernels: everything that codegen reads off the IR."""
