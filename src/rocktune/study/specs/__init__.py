"""Requests of users, the specifications made from them, and estimates of their cost."""
