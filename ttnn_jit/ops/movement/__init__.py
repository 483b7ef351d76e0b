"""Operations that move elements and compute none."""
