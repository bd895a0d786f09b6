"""Tuners from a user's own Python file."""

import importlib.util
import inspect
import sys
from pathlib import Path

from rocktune.errors import UserError
from rocktune.tuners.base import Tuner


def tuner_in(path: Path) -> type[Tuner]:
    """Returns the class of the only tuner that a Python file defines. Executes the file.

    Args:
        path: path of the file.

    Raises:
        UserError: there is no such file, it raises an exception, or it does not define exactly one tuner.
    """
    name = f"rocktune_tuner_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UserError(f"tuner {path}: there is no such file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pydantic look up the module of a class by its name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise UserError(f"tuner {path}: line {error.lineno}: {error.msg}") from None
    except Exception as error:
        raise UserError(f"tuner {path}: cannot be loaded: {type(error).__name__}: {error}") from None
    # Comparing the module leaves out tuners that the file merely imports, such as a base class.
    found = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Tuner) and value.__module__ == name
    ]
    if len(found) != 1:
        names = ", ".join(tuner.__name__ for tuner in found) or "none"
        raise UserError(f"tuner {path}: must define one class that derives from Tuner, and defines {names}")
    _refuse_unfinished(path, found[0])
    return found[0]


def _refuse_unfinished(path: Path, tuner: type[Tuner]) -> None:
    """Raises a UserError if the tuner lacks a method or attribute; otherwise its first use would fail."""
    missing = sorted(getattr(tuner, "__abstractmethods__", ()))
    missing += [name for name in ("name", "summary", "settings_type") if not hasattr(tuner, name)]
    if missing:
        raise UserError(f"tuner {path}: {tuner.__name__} lacks {', '.join(missing)}; define all of them")
