"""Operations, drawn at random, against references."""
