"""Rules over operations of TTIR: canonical forms, decompositions, fusions, moves that cancel."""
