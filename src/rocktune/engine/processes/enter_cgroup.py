"""Enters a cgroup and becomes a program: python enter_cgroup.py PROCESSES_FILE PROGRAM [ARGUMENT...].

A program of its own, with Python's standard library alone, so that all threads of what it becomes are in the
cgroup from their first instruction on.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(str(os.getpid()))
    os.execvp(sys.argv[2], sys.argv[2:])
