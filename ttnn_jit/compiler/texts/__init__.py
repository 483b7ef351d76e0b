"""Programs of the functions of texts, whole and step by step."""
