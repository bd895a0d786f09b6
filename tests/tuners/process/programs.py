"""Programs that are tuners, as their authors would write them: without rocktune."""

import sys
from pathlib import Path

SEARCHES = """
import json, random, sys

def drawn(knob):
    if knob["type"] == "choice":
        return random.choice(knob["choices"])
    if knob["type"] == "integer":
        return random.randint(knob["low"], knob["high"])
    return random.uniform(knob["low"], knob["high"])

for line in sys.stdin:
    told = json.loads(line)
    if "problem" in told:
        problem, known = told["problem"], 0
        at_once = problem["settings"].get("at_once", 1)
    known += len(told["results"])
    # Drawn by the number of results, so that a program which starts in the middle goes on alike.
    random.seed(problem["seed"] + known)
    drawings = [{knob["name"]: drawn(knob) for knob in problem["knobs"]} for _ in range(at_once)]
    print(json.dumps({"trials": [{"configuration": each} for each in drawings]}), flush=True)
"""
"""Random search."""


def definition(folder: Path, code: str, more: str = "") -> Path:
    """Writes a tuner's TOML file and its program, and returns the file's path."""
    (folder / "program.py").write_text(code)
    file = folder / "outside.toml"
    file.write_text(f'command = ["{sys.executable}", "-S", "./program.py"]\n{more}')
    return file


def answering(*answers: str, end: str = "") -> str:
    """Returns a program that gives these answers, texts of Python, and then runs `end`."""
    steps = "".join(f"told = json.loads(sys.stdin.readline()); say({answer})\n" for answer in answers)
    return (
        "import json, os, sys, time\n"
        "def say(answer):\n"
        "    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)\n"
        "def asks(**values):\n"
        "    return {'trials': [{'configuration': values}]}\n"
        f"{steps}{end}\n"
    )
