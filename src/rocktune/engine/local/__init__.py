"""Shared parts of the engines of this machine: runs in directories, and preloaded stores."""
