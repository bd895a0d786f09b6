import pytest

from rocktune.lsm import inferred_policy, propagated_policies


@pytest.mark.parametrize(
    ("above", "policy", "inferred"),
    [
        # 1/49 + 10 (1/49 - 1/81) = 0.10103; 1 / sqrt of it = 3.146.
        (9, 7, 3),
        # 1/9 + 10 (1/9 - 1/49) = 1.01814; 0.991.
        (7, 3, 1),
        # 1 + 10 (1 - 1/9) = 9.889; 0.318, and there is no policy below 1.
        (3, 1, 1),
        (5, 5, 5),
        (4, 9, 4),
    ],
)
def test_the_lemma_by_hand(above: int, policy: int, inferred: int) -> None:
    assert inferred_policy(above, policy, 10) == inferred


def test_uniform_filters_copy_and_monkey_filters_infer() -> None:
    assert propagated_policies([4], 5, 10) == [4, 4, 4, 4, 4]
    assert propagated_policies([9, 7], 5, 10) == [9, 7, 3, 1, 1]
    assert propagated_policies([10, 10], 4, 10) == [10, 10, 10, 10]
    assert propagated_policies([2, 9], 1, 10) == [2]
