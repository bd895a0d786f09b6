import pytest

from rocktune.errors import UserError
from rocktune.tuners.choice import parse_choice, split_choices


def test_a_list_is_split_outside_parentheses() -> None:
    assert split_choices("random, nsga2(population=20, mutation_rate=0.64),optuna:CmaEsSampler,") == [
        "random",
        "nsga2(population=20, mutation_rate=0.64)",
        "optuna:CmaEsSampler",
    ]


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("random", ("random", {})),
        ("my/own.py", ("my/own.py", {})),
        ("optuna:CmaEsSampler()", ("optuna:CmaEsSampler", {})),
        ("nsga2(population=20, mutation_rate=0.64)", ("nsga2", {"population": 20, "mutation_rate": 0.64})),
        ('x( a = true , b="c", d=e )', ("x", {"a": True, "b": "c", "d": "e"})),
    ],
)
def test_a_choice_has_a_name_and_settings(text: str, choice: tuple[str, dict[str, object]]) -> None:
    assert parse_choice(text) == choice


@pytest.mark.parametrize(
    "text", ["", "nsga2(", "nsga2)", "a b", "nsga2(population)", "nsga2(=3)", "nsga2(x=)"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not of the form"):
        parse_choice(text)
