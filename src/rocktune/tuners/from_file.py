"""Tuners from a user's own Python file."""

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from rocktune.errors import UserError
from rocktune.trial import Batch, Result, Trial
from rocktune.tuners.base import Problem, Search, Tuner


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
    # A script that calls sys.exit() would end rocktune without a word.
    except (Exception, SystemExit) as error:
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
    return _guarded(path, found[0])


def _guarded(path: Path, tuner: type[Tuner]) -> type[Tuner]:
    """Returns the tuner's class; mistakes of its code are UserErrors with the file and the line."""

    def search(self: Tuner, problem: Problem, rng: np.random.Generator) -> Search:
        with _naming(path):
            yield from _checked(path, tuner.search(self, problem, rng))

    def min_budget_s(self: Tuner, problem: Problem) -> float:
        with _naming(path):
            return tuner.min_budget_s(self, problem)

    return type(tuner.__name__, (tuner,), {"search": search, "min_budget_s": min_budget_s})


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turns an exception of a tuner's code into a UserError with the file and the line that failed."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        lines = [
            each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(path)
        ]
        line = f"line {lines[-1]}: " if lines else ""
        raise UserError(f"tuner {path}: {line}{type(error).__name__}: {error}") from error


def _checked(path: Path, search: Search) -> Search:
    """Yields what a tuner yields.

    Raises:
        UserError: it is neither a batch nor a function.
    """
    results: Sequence[Result] | None = None
    while True:
        try:
            item = next(search) if results is None else search.send(results)
        except StopIteration:
            return
        if callable(item):
            results = yield partial(_made, path, item)
        else:
            results = yield _batch(path, item)


def _made(path: Path, make: Callable[[], Batch]) -> Batch:
    """Returns the batch that a tuner's function makes."""
    with _naming(path):
        return _batch(path, make())


def _batch(path: Path, item: object) -> Batch:
    """Returns what a tuner yielded, if it is a batch of trials.

    Raises:
        UserError: it is something else.
    """
    if isinstance(item, Batch) and all(isinstance(each, Trial) for each in item.trials):
        return item
    raise UserError(
        f"tuner {path}: search yields {item!r:.60}; yield a Batch of Trials, or a function that makes one"
    )


def _refuse_unfinished(path: Path, tuner: type[Tuner]) -> None:
    """Raises a UserError if the tuner lacks a method or attribute; otherwise its first use would fail."""
    missing = sorted(getattr(tuner, "__abstractmethods__", ()))
    missing += [name for name in ("name", "summary", "settings_type") if not hasattr(tuner, name)]
    if missing:
        raise UserError(f"tuner {path}: {tuner.__name__} lacks {', '.join(missing)}; define all of them")
