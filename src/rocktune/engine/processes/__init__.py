"""Programs under limits: started, watched, ended with all that they started, and explained when they die."""
