"""The builder of D2M."""
