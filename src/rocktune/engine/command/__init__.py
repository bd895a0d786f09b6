"""Engine `command`: the user's own program as the system under test."""
