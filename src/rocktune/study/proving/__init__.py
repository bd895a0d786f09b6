"""What is made of a search: the stages of the verification, their statistics, and the outcome."""
