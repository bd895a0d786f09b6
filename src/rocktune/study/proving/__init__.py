"""The stages of the verification after a search, their statistics, and the outcome."""
