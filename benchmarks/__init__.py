"""Scripts that measure what rocktune claims; each has the same face (see claims.py)."""
