"""Dremel's figures and tables."""
