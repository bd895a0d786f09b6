"""Scripts that measure rocktune's claims; all have the same flags (see claims.py)."""
