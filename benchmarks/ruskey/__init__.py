"""RusKey's experiments with Lerp (section 7): the gain of a store that learns its shape, and its cost."""
