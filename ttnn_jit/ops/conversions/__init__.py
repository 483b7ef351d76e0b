"""Ops of StableHLO, CHLO and TOSA in terms of TTIR (families/dialect_conversion.py), one declaration each.

Semantics are those of StableHLO's specification; where it leaves a choice, that of XLA on a CPU.
"""
