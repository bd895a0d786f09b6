"""Collections that keep a bounded number of items and count those that they leave out."""

from collections import deque
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

Item = TypeVar("Item")


class Bounded(Protocol):
    """A collection that may have left items out.

    Attributes:
        total: items that were added.
    """

    total: int

    def __len__(self) -> int:
        """Returns the number of items that are kept."""


class FirstAndLast(Generic[Item]):
    """Keeps the first and the last items that were added.

    Attributes:
        total: items that were added.
    """

    def __init__(self, capacity: int) -> None:
        self.total = 0
        self._first: list[Item] = []
        self._first_capacity = capacity - capacity // 2
        self._last: deque[Item] = deque(maxlen=capacity // 2)

    def add(self, item: Item) -> None:
        """Adds an item; drops one from the middle if there are too many."""
        self.total += 1
        if len(self._first) < self._first_capacity:
            self._first.append(item)
        else:
            self._last.append(item)

    def __iter__(self) -> Iterator[Item]:
        yield from self._first
        yield from self._last

    def __len__(self) -> int:
        return len(self._first) + len(self._last)


class Thinned(Generic[Item]):
    """Keeps items at even distances, and the last one; the distance doubles whenever there are too many.

    Attributes:
        total: items that were added.
    """

    def __init__(self, capacity: int) -> None:
        self.total = 0
        self._capacity = capacity
        self._weight = 0
        self._every = 1
        self._kept: list[tuple[Item, int]] = []
        self._newest: Item | None = None

    def add(self, item: Item, weight: int = 1) -> None:
        """Adds an item.

        Args:
            item: the item.
            weight: its share of the capacity.
        """
        keep = self.total % self._every == 0
        self.total += 1
        self._newest = None if keep else item
        if keep:
            self._kept.append((item, weight))
            self._weight += weight
        while self._weight > self._capacity and len(self._kept) > 1:
            self._kept = self._kept[::2]
            self._weight = sum(each for _, each in self._kept)
            self._every *= 2
            if keep and self._kept[-1][0] is not item:
                self._newest = item

    def __iter__(self) -> Iterator[Item]:
        for item, _ in self._kept:
            yield item
        if self._newest is not None:
            yield self._newest

    def __len__(self) -> int:
        return len(self._kept) + (self._newest is not None)
