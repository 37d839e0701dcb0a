# SPDX-License-Identifier: MIT
"""What the questions of bench/all share: programs, folder, recordings, limits of the machine."""
import os
import re
import shutil
from dataclasses import dataclass, field
from typing import Callable

from . import recordings
from .run import Clock, Left, run


@dataclass
class Question:
    name: str
    seconds: int  # the most that it may take
    needs: tuple  # benchmarks of the build
    about: str  # peer and limit, printed above the table
    jobs: Callable = None  # of a Context: returns [(name, function of a Clock that returns a Row)]
    decodes: tuple = ()  # groups of recordings: programs, text
    limited: bool = False  # needs the limits of the machine


@dataclass
class Context:
    build: str
    pairs: int
    folder: str  # temporary files
    kept: str  # folder of recordings, or None
    files: list  # recordings of the user
    clock: Clock  # of the whole run
    recorded: dict = field(default_factory=dict)  # name: Recording, or the reason why there is none
    limits: dict = field(default_factory=dict)  # read, copy, write: MB/s
    engine: dict = field(default_factory=dict)  # results of bench_fast

    def tool(self, name):
        """Returns the path of a program of the build."""
        return os.path.join(self.build, "bin" if name == "ptcap" else "bench", name)

    @property
    def ptcap(self):
        return self.tool("ptcap")

    def perf(self):
        path = shutil.which("perf")
        if not path:
            raise Left("perf is not installed")
        return path

    def names(self):
        """Returns the names of the recordings."""
        return [os.path.basename(path) for path in self.files] or list(recordings.PROGRAMS)

    def text_name(self):
        """Returns the name of the recording whose text is printed."""
        return (self.names() if self.files else list(recordings.SHORT))[0]

    def recording(self, name):
        """Returns a Recording. Raises Left with the reason if there is none."""
        found = self.recorded[name]
        if isinstance(found, str):
            raise Left(found)
        return found

    def prepare(self, groups, say):
        """Makes or finds the recordings of @groups, and prints their sizes."""
        clock = Clock(60, self.clock)
        given = dict(zip(self.names(), self.files))
        names = (self.names() if "programs" in groups else []) + ([self.text_name()] if "text" in groups else [])
        for name in dict.fromkeys(names):
            try:
                if given:
                    found, how = recordings.describe(self.ptcap, name, given[name], clock), "given"
                else:
                    found, new = recordings.make(self.ptcap, name, self.folder, self.kept, clock)
                    how = "recorded" if new else "kept"
                self.recorded[name] = found
                say(f"recording: {name}, {found.bytes / 1e6:.1f} MB of trace ({how})")
            except Left as e:
                self.recorded[name] = str(e)
                say(f"recording: {name} is left out: {e}")

    def measure_limits(self, say):
        text = run([self.tool("bench_limits"), self.folder], Clock(30, self.clock), keep=True).text
        self.limits = {name: float(value) for name, value in re.findall(r"^(\w+) (\d+)$", text, re.M)}
        say(f"limits of one thread: read {self.limits['read']:,.0f} MB/s, copy {self.limits['copy']:,.0f} MB/s, "
            f"write(2) to {os.path.dirname(self.folder)} ({filesystem(self.folder)}) {self.limits['write']:,.0f} MB/s")


def filesystem(path):
    """Returns the type of the file system of a folder."""
    best, path = ("", "?"), os.path.realpath(path)
    with open("/proc/mounts", encoding="utf-8", errors="replace") as f:
        for row in f:
            where, kind = row.split()[1:3]
            if (path + "/").startswith(where.rstrip("/") + "/") and len(where) >= len(best[0]):
                best = where, kind
    return best[1]
