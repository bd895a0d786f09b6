"""A tuner that somebody keeps in a Python file of their own."""

import importlib.util
import inspect
import sys
from pathlib import Path

from rocktune.errors import UserError
from rocktune.tuners.base import Tuner


def tuner_in(path: Path) -> type[Tuner]:
    """Executes a Python file and returns the one tuner that it defines.

    Args:
        path: names the file; the user has asked for it, so its code runs.

    Raises:
        UserError: there is no such file, it fails, or it defines no tuner or several.
    """
    name = f"rocktune_tuner_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UserError(f"tuner {path}: there is no such file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pydantic look their module up by name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise UserError(f"tuner {path}: line {error.lineno}: {error.msg}") from None
    except Exception as error:
        raise UserError(f"tuner {path}: cannot be loaded: {type(error).__name__}: {error}") from None
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
    missing = sorted(getattr(tuner, "__abstractmethods__", ()))
    missing += [name for name in ("name", "summary", "settings_type") if not hasattr(tuner, name)]
    if missing:
        raise UserError(f"tuner {path}: {tuner.__name__} lacks {', '.join(missing)}")
