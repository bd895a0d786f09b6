"""Passes over all policies of a level, which show each of them before one is chosen."""

from dataclasses import dataclass


@dataclass
class Passes:
    """The state of passes over all K, to one end and back.

    Attributes:
        count: number of passes, at least 1.
        left: number of passes that remain.
        direction: direction of the present pass, 1 or -1.
        steps: steps in all passes together.
    """

    count: int
    left: int
    direction: int = 1
    steps: int = 0

    @classmethod
    def begun(cls, count: int) -> "Passes":
        """Returns the state at the beginning of `count` passes, the first one upwards."""
        return cls(count, count)

    @property
    def done(self) -> bool:
        """Whether no pass remains."""
        return self.left < 1

    def step(self, policy: int, size_ratio: int) -> int | None:
        """Returns the next step, 1 or -1; None when the passes are done.

        Args:
            policy: present K, from 1 to T. A first pass from K = T goes downwards.
            size_ratio: T.
        """
        if not 1 <= policy + self.direction <= size_ratio:
            self.direction = -self.direction
            # At the first step no pass has been made yet.
            self.left -= min(1, self.steps)
        self.steps += 1
        # The bound on steps ends the passes even if the store refuses the policies that it is given.
        if self.steps > self.count * size_ratio:
            self.left = 0
        return None if self.done else self.direction
