"""What a user asks for: requests, the specs that they come to, and what these will take."""
