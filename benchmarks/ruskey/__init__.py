"""RusKey's experiments with Lerp (section 7): what a store that learns its shape gains, and what it costs."""
