"""Reading: from the IR of a scheduled module to kernels; no other room of codegen reads IR."""
