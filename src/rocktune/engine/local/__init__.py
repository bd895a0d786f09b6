"""What the engines of one machine share: runs in directories of their own, and preloaded stores."""
