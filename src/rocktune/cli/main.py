"""The entry point: runs a command and turns each way it can end into an exit code and one line of text."""

import os
import re
import sys
import traceback
from collections.abc import Sequence

import typer
import typer.main

from rocktune.cli import (  # noqa: F401 -- they register themselves
    applying,
    commands,
    devices,
    explaining,
    flsm,
    ledgers,
    logs,
    online,
    profiling,
    research,
    scaling,
    traces,
    upgrading,
    watching,
    workloads,
)
from rocktune.cli.app import app
from rocktune.cli.output import print_line
from rocktune.errors import UserError
from rocktune.study import StudyInterrupted

EXIT_INTERNAL_ERROR = 1
EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""The characters by which Python stands for the bytes of an argument that are no UTF-8."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: arguments without the program's name; None takes the process's own.

    Returns:
        The exit code: 0 for success, 2 for an error that the user can mend, 130 after Ctrl-C, 1 for an error
        of rocktune's own.
    """
    try:
        # Not app(): its standalone mode would print errors in Typer's own form and exit.
        command = typer.main.get_command(app)
        code = command.main(arguments, prog_name="rocktune", standalone_mode=False)
        if code == EXIT_INTERRUPTED:  # Typer returns this code after a KeyboardInterrupt
            print_line("Interrupted. What was recorded before is kept.", error=True)
        return code if isinstance(code, int) else 0
    except UserError as error:
        return _failed(str(error), EXIT_USER_ERROR)
    except typer.TyperException as error:
        return _failed(_usage_message(error), EXIT_USER_ERROR)
    except StudyInterrupted as interrupted:
        return _interrupted(interrupted)
    # Such as `rocktune show x | head`.
    except BrokenPipeError:
        # The reader of our output has gone. Python flushes stdout at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERNAL_ERROR
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and _NOT_UTF8.search(error.object):
            return _failed(f"{error.object!a}: it is no UTF-8 text", EXIT_USER_ERROR)
        # Users get one line; a traceback only helps those who report or mend the error.
        if os.environ.get("ROCKTUNE_DEBUG"):
            traceback.print_exc()
            return EXIT_INTERNAL_ERROR
        described = f"{type(error).__name__}: {error}"
        return _failed(
            f"internal error, {described} (set ROCKTUNE_DEBUG=1 to see the traceback)", EXIT_INTERNAL_ERROR
        )


def _failed(message: str, code: int) -> int:
    """Prints an error as one line on standard error and returns the exit code."""
    print_line(f"rocktune: error: {' '.join(message.split())}", error=True)
    return code


def _usage_message(error: typer.TyperException) -> str:
    """Returns the text of a usage error in the form of our own, with the nearest name if there is one."""
    option = getattr(error, "option_name", None)
    if option is None:
        message = error.format_message()
        # Typer's messages start with a capital, but ours follow "rocktune: error: ".
        message = message[:1].lower() + message[1:]
        # Typer does not export the class of these errors.
        if not message.startswith("missing"):
            return message
        wanted = getattr(getattr(error, "param", None), "help", None) or "see --help"
        return f"{message.rstrip('.')}: {wanted}"
    nearest = getattr(error, "possibilities", None)
    hint = f"did you mean '{nearest[0]}'?" if nearest else "--help lists all options"
    return f"unknown option '{option}': {hint}"


def _interrupted(interrupted: StudyInterrupted) -> int:
    """Prints the best result so far and the command that continues, and returns the exit code."""
    if interrupted.best is None:
        so_far = f". {interrupted.so_far}" if interrupted.so_far else " before the first result."
        print_line(f"Interrupted{so_far}", error=True)
    else:
        ratio = f" ({interrupted.ratio:.2f}× the baseline)" if interrupted.ratio is not None else ""
        values = ", ".join(f"{name}={value}" for name, value in interrupted.best.items())
        print_line(f"Interrupted. Best so far{ratio}: {values}", error=True)
    print_line(f"To continue: {interrupted.resume}", error=True)
    return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
