"""The user's own program as the system under test."""
