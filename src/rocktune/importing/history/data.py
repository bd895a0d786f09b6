"""Reads the TOML files of this package."""

import tomllib
from importlib.resources import files
from typing import Any


def toml_data(name: str) -> dict[str, Any]:
    """Returns the content of a TOML file beside this module."""
    with files(__package__).joinpath(name).open("rb") as file:
        return tomllib.load(file)
