"""Jia and Chen's figures and tables, and our evolutionary tuners beside other programs."""
