"""Enters a cgroup and executes a program: python enter_cgroup.py PROCESSES_FILE PROGRAM [ARGUMENT...].

It is a program of its own, so that all threads of PROGRAM are in the cgroup from their first instruction. It
uses only Python's standard library, so that it starts quickly.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(str(os.getpid()))
    os.execvp(sys.argv[2], sys.argv[2:])
