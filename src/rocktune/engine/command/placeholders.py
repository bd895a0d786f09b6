"""Placeholders such as `{options_file}` in the user's commands."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from rocktune.errors import unknown_name

ANYWHERE = ("options_file", "data_directory", "seed")
"""The placeholders that every command may have."""
MEASURED = (*ANYWHERE, "seconds", "result_file")
"""The placeholders of the command `run`, which is measured."""

# A shell's ${name} is not a placeholder; {{name}} stands for the text {name}.
_PLACEHOLDER = re.compile(r"(?<!\$)\{(?:(?P<name>[A-Za-z_]\w*)|(?P<kept>\{[A-Za-z_]\w*\}))\}")


def placeholders_in(texts: Iterable[str]) -> set[str]:
    """Returns the names of all placeholders in some texts, known or not."""
    return {match["name"] for text in texts for match in _PLACEHOLDER.finditer(text) if match["name"]}


def require_placeholders(texts: Sequence[str], known: Sequence[str]) -> None:
    """Raises if texts have a placeholder that is not known.

    Raises:
        UserError: names the unknown placeholder and suggests the nearest known one.
    """
    for name in sorted(placeholders_in(texts) - set(known)):
        raise unknown_name("placeholder", f"{{{name}}}", (f"{{{each}}}" for each in known))


def filled(arguments: Sequence[str], values: Mapping[str, str], shell: bool) -> tuple[str, ...]:
    """Returns a command with its placeholders replaced.

    Args:
        arguments: program and arguments; a single text if `shell` is true.
        values: the value of each placeholder that occurs, by its name.
        shell: wrap the text in /bin/sh -c, with values quoted for the shell.
    """

    def value(match: re.Match[str]) -> str:
        if match["kept"]:
            return match["kept"]
        return shlex.quote(values[match["name"]]) if shell else values[match["name"]]

    replaced = tuple(_PLACEHOLDER.sub(value, argument) for argument in arguments)
    return ("/bin/sh", "-c", *replaced) if shell else replaced


def as_line(arguments: Sequence[str], shell: bool) -> str:
    """Returns a command as one would type it in a shell, with its placeholders."""
    if shell:
        return arguments[0]
    # Braces alone would make shlex quote an argument, so each placeholder is replaced by a letter to ask.
    plain = [_PLACEHOLDER.sub("x", argument) for argument in arguments]
    return " ".join(
        argument if shlex.quote(without) == without else shlex.quote(argument)
        for argument, without in zip(arguments, plain, strict=True)
    )
