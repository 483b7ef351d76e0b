"""The layouts of tt-mlir's specification, executable: no compile reads it."""
