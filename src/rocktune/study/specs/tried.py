"""Configurations that a search begins with: of the user's OPTIONS files, and of earlier studies."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from rocktune.errors import UserError
from rocktune.importing import ImportedOptions
from rocktune.space import Space, merged_options, nearest_configuration
from rocktune.spec_file import SparseSpec


class Tried(SparseSpec):
    """A configuration that is measured before the tuner begins.

    Attributes:
        file: name of the OPTIONS file that it comes from; empty for one of an earlier study.
        study: name of the earlier study that it comes from; empty for one of an OPTIONS file.
        distance: how unlike the earlier study's conditions are (`rocktune.study.warm_start`).
        configuration: its values by knob name.
        differences: a text for each knob that has another value than in the file, because the space or its
            memory budget does not allow that one.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset({"study", "distance"})

    file: str = ""
    study: str = ""
    distance: float | None = None
    configuration: dict[str, Any]
    differences: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        if self.distance is None:
            return self.file
        return f"study '{self.study}', whose conditions have a distance of {self.distance:.2f}"


def tried_of(
    space: Space, paths: Sequence[str], files: Sequence[ImportedOptions | None]
) -> tuple[Tried, ...]:
    """Returns the configurations of a space that are nearest to OPTIONS files.

    Args:
        space: the study's space.
        paths: paths of the files.
        files: the parsed files.

    Raises:
        UserError: no configuration near a file is valid.
    """
    names = Counter(Path(path).name for path in paths)
    return tuple(
        _nearest(space, path, file, names[Path(path).name] > 1)
        for path, file in zip(paths, files, strict=True)
        if file is not None
    )


def _nearest(space: Space, path: str, file: ImportedOptions, with_folder: bool) -> Tried:
    """Returns the configuration of a space that is nearest to an OPTIONS file.

    Args:
        space: the space.
        path: path of the file.
        file: the parsed file.
        with_folder: whether the file's name needs that of its directory, because another one has the same.
    """
    wanted = space.configuration_from_options(merged_options(file.options))
    try:
        nearest = nearest_configuration(space, wanted)
    except UserError as refused:
        raise UserError(f"try: {path}: {refused}") from None
    return Tried(
        file="/".join(Path(path).parts[-2:]) if with_folder else Path(path).name,
        configuration=dict(nearest.configuration),
        differences=nearest.differences,
    )


def tried_sentences(tried: Sequence[Tried]) -> list[str]:
    """Returns a sentence for the user on each configuration that is tried."""
    if not tried:
        return []
    sentences = ["Options that the space does not tune are the baseline's in what is tried."]
    for each in tried:
        changed = f", with {'; '.join(each.differences)}" if each.differences else " as it stands"
        sentences.append(f"Tried: {each.source}{changed}.")
    return sentences
