"""Commands on texts of other compilers: run with goldens, comparison of two texts, search for the first wrong op."""
