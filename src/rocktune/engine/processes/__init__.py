"""Runs programs under limits, ends them with all their children, and explains why they died."""
