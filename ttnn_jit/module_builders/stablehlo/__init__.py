"""The builder of StableHLO and Shardy."""
