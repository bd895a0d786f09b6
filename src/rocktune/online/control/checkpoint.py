"""Saves and restores what a controller has learned. Reading the file's arrays and JSON runs no code."""

import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.online.control.levelwise import Learned, Levelwise

_VERSION = 2


def keep(controller: Levelwise, path: Path) -> None:
    """Writes the known workloads, and the networks and replay buffers of agents, to a file.

    The file is replaced atomically: a crash leaves the old or the new one.

    Raises:
        OSError: the file cannot be written.
    """
    about = {"format": _format(controller), "known": [asdict(known) for known in controller.known]}
    arrays: dict[str, NDArray[np.generic]] = {"about": np.array(json.dumps(about))}
    for learner in controller.learners:
        for name, array in learner.arrays().items():
            arrays[f"level{learner.level}.{name}"] = array
    unfinished = path.with_name(f"{path.name}.new")
    with unfinished.open("wb") as file:
        # mypy takes the arrays for savez's other parameter.
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        # Without it a power loss could leave the renamed file empty.
        os.fsync(file.fileno())
    unfinished.replace(path)


def restore(controller: Levelwise, path: Path) -> None:
    """Restores a new controller from a file.

    Raises:
        ValueError: the file is damaged, is no such file, or is of another controller or other settings;
            `controller` is unchanged.
        OSError: the file cannot be read.
    """
    try:
        # Opened by us, because np.load does not close a damaged file.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        known = _known(json.loads(str(arrays["about"])), _format(controller))
        # The second learner may be refused after the first was restored; then the first gets its old arrays
        # back.
        before = [learner.arrays() for learner in controller.learners]
        try:
            for learner in controller.learners:
                prefix = f"level{learner.level}."
                own = {
                    name.removeprefix(prefix): array
                    for name, array in arrays.items()
                    if name.startswith(prefix)
                }
                learner.restore(own)
        except ValueError:
            for learner, arrays_before in zip(controller.learners, before, strict=True):
                learner.restore(arrays_before)
            raise
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError) as failure:
        raise ValueError(f"not a file of {controller.name}: {failure}") from None
    controller.known = known


def _format(controller: Levelwise) -> str:
    """Returns the name of the controller's file format."""
    return f"rocktune {controller.name} {_VERSION}"


def _known(about: Any, file_format: str) -> list[Learned]:
    """Returns the known workloads of a file's JSON part.

    Raises:
        ValueError: the format differs, or a policy is below 1.
        KeyError: a field is missing.
    """
    if about["format"] != file_format:
        raise ValueError(f"its format is not '{file_format}'")
    known = []
    for each in about["known"]:
        policies = tuple(int(policy) for policy in each["policies"])
        if not policies or min(policies) < 1:
            raise ValueError("a known workload has no policies, or a policy below 1")
        known.append(Learned(float(each["read_share"]), float(each["scan_share"]), policies))
    return known
