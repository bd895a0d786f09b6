"""What `{options_file}` and its like stand for in the user's commands."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from rocktune.errors import unknown_name

ANYWHERE = ("options_file", "data_directory", "seed")
"""The placeholders that any command may have."""
MEASURED = (*ANYWHERE, "seconds", "result_file")
"""The placeholders of the command that is measured."""

# A shell's ${name} is none; {{name}} stands for {name}.
_PLACEHOLDER = re.compile(r"(?<!\$)\{(?:(?P<name>[A-Za-z_]\w*)|(?P<kept>\{[A-Za-z_]\w*\}))\}")


def placeholders_in(texts: Iterable[str]) -> set[str]:
    """Returns the names that stand between braces in some texts."""
    return {match["name"] for text in texts for match in _PLACEHOLDER.finditer(text) if match["name"]}


def require_placeholders(texts: Sequence[str], known: Sequence[str]) -> None:
    """Makes sure that texts have no other placeholders than the known ones.

    Raises:
        UserError: they have, with the nearest known one.
    """
    for name in sorted(placeholders_in(texts) - set(known)):
        raise unknown_name("placeholder", f"{{{name}}}", (f"{{{each}}}" for each in known))


def filled(arguments: Sequence[str], values: Mapping[str, str], shell: bool) -> tuple[str, ...]:
    """Returns a command with its placeholders replaced.

    Args:
        arguments: program and arguments; one text for a shell.
        values: by placeholder; each that occurs.
        shell: run the text with /bin/sh; values are then quoted for it where they have to be.
    """

    def value(match: re.Match[str]) -> str:
        if match["kept"]:
            return match["kept"]
        return shlex.quote(values[match["name"]]) if shell else values[match["name"]]

    replaced = tuple(_PLACEHOLDER.sub(value, argument) for argument in arguments)
    return ("/bin/sh", "-c", *replaced) if shell else replaced


def as_line(arguments: Sequence[str], shell: bool) -> str:
    """Returns a command as one would type it, placeholders and all."""
    if shell:
        return arguments[0]
    plain = [_PLACEHOLDER.sub("x", argument) for argument in arguments]
    return " ".join(
        argument if shlex.quote(without) == without else shlex.quote(argument)
        for argument, without in zip(arguments, plain, strict=True)
    )
