"""What bounded collections keep."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rocktune.importing.logs.bounded import FirstAndLast, Thinned


@given(count=st.integers(0, 100), capacity=st.integers(2, 20))
def test_first_and_last(count: int, capacity: int) -> None:
    kept: FirstAndLast[int] = FirstAndLast(capacity)
    for item in range(count):
        kept.add(item)
    first = list(range(min(count, capacity - capacity // 2)))
    assert list(kept) == first + list(range(max(len(first), count - capacity // 2), count))
    assert (len(kept), kept.total) == (min(count, capacity), count)


@given(count=st.integers(1, 300), capacity=st.integers(2, 20), weight=st.integers(1, 3))
def test_thinned_items_have_even_distances(count: int, capacity: int, weight: int) -> None:
    kept: Thinned[int] = Thinned(capacity)
    for item in range(count):
        kept.add(item, weight)
    found = list(kept)
    assert (found[0], found[-1], kept.total) == (0, count - 1, count)
    # The last item alone may be nearer.
    distances = {later - earlier for earlier, later in pairwise(found[:-1])}
    assert len(distances) <= 1
    assert len(found) == len(kept) <= max(1, capacity // weight) + 1
    if count * weight <= capacity:
        assert found == list(range(count))
