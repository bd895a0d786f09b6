"""Process tuners from a user's TOML file."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from rocktune.spec_file import Spec, located_argument, read_toml, validated
from rocktune.tuners.process.program import ProgramSpec
from rocktune.tuners.process.search import ProcessTuner

AnswerTime = Annotated[float, Field(strict=True, gt=0)]


class ProcessDefinition(Spec):
    """A tuner's TOML file.

    Attributes:
        command: the program and its arguments; no shell is used. A path that begins with ./ or ../, and a
            program with a slash, are relative to the file's directory.
        name: name of the tuner for users, without spaces; the file's by default.
        answer_s: maximum wall seconds until each answer of the program.
        settings: is sent to the program.
    """

    command: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    name: Annotated[str, Field(pattern=r"^\S+$")] | None = None
    answer_s: AnswerTime = 600.0
    settings: dict[str, Any] = Field(default={})


class ProcessSettings(Spec):
    """The settings of a tuner in a process of its own.

    Attributes:
        answer_s: maximum wall seconds until each answer of the program; None for the file's.
        settings: is sent to the program, with those of the file that it does not name.
    """

    answer_s: AnswerTime | None = None
    settings: dict[str, Any] = Field(default={})


class DefinedTuner(ProcessTuner):
    """A tuner whose program a TOML file names."""

    settings_type = ProcessSettings
    settings: ProcessSettings
    definition: ClassVar[ProcessDefinition]

    def program(self) -> ProgramSpec:
        """Returns the program of the file, with this search's settings."""
        file, ours = self.definition, self.settings
        answer_s = file.answer_s if ours.answer_s is None else ours.answer_s
        return ProgramSpec(self.name, file.command, answer_s, file.settings | ours.settings)


def process_tuner(path: Path) -> type[DefinedTuner]:
    """Returns the class of the tuner that a TOML file defines. The program is not started.

    Raises:
        UserError: the file cannot be read, or does not define a tuner.
    """
    found = validated(ProcessDefinition, read_toml(path), f"tuner {path}")
    command = tuple(
        located_argument(index, argument, path.parent) for index, argument in enumerate(found.command)
    )
    name = found.name or "-".join(path.stem.split())
    return type(
        "DefinedTuner",
        (DefinedTuner,),
        {
            "name": name,
            "summary": f"the program {' '.join(command)}",
            "definition": found.model_copy(update={"command": command}),
        },
    )
