"""Operations that make one element of many."""
