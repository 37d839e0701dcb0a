# SPDX-License-Identifier: MIT
"""Runs programs with a time limit: their CPU time, elapsed time and output."""
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections import namedtuple

Cost = namedtuple("Cost", "cpu wall text")  # seconds, seconds, output (stdout, then stderr) if it was kept
Size = namedtuple("Size", "lines bytes")


class Left(Exception):
    """A row is left out. The text is the reason."""


class Clock:
    """Seconds that a row, a question or the whole run may take."""

    def __init__(self, seconds, outer=None):
        self.end = time.monotonic() + seconds
        if outer:
            self.end = min(self.end, outer.end)

    def left(self):
        return max(self.end - time.monotonic(), 0)


class Child:
    """A process in a session of its own. The clock's end, and the end of a `with` block, kill the session."""

    def __init__(self, command, clock, stdout=None, env=None):
        self.command, self.late, self.status = command, False, None
        self.said = tempfile.TemporaryFile()
        self.begin = time.perf_counter()
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or self.said, stderr=self.said,
                                            env=env, start_new_session=True)
        except OSError as e:
            self.said.close()
            raise Left(f"cannot start '{command[0]}': {e.strerror}") from e
        self.timer = threading.Timer(clock.left(), self._too_late)
        self.timer.daemon = True
        self.timer.start()

    def _too_late(self):
        self.late = True
        self._kill()

    def _kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.timer.cancel()
        if self.status is None:
            self._kill()
            self.process.wait()
        self.said.close()

    def _text(self):
        self.said.seek(0)
        return self.said.read().decode(errors="replace")

    def end(self):
        """Waits for the end. Returns the Cost. A failure raises Left."""
        _, status, used = os.wait4(self.process.pid, 0)
        wall = time.perf_counter() - self.begin
        self.timer.cancel()
        self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
        name = os.path.basename(self.command[0])
        if self.late:
            raise Left(f"{name} took longer than the time of this row")
        if self.status:
            last = (self._text().strip().splitlines() or ["no message"])[-1]
            raise Left(f"{name} ended with status {self.status}: {last}")
        return Cost(used.ru_utime + used.ru_stime, wall, self._text())


def run(command, clock, env=None, keep=False):
    """Returns the Cost of a program. @keep: returns its stdout, too; otherwise it goes to /dev/null."""
    with Child(command, clock, None if keep else subprocess.DEVNULL, env) as child:
        return child.end()


def beside(commands, clock):
    """Runs programs at the same time. Returns the seconds until the last one has ended."""
    begin = time.perf_counter()
    children = []
    try:
        for command in commands:
            children.append(Child(command, clock, subprocess.DEVNULL))
        for child in children:
            child.end()
        return time.perf_counter() - begin
    finally:
        for child in children:
            child.__exit__()


def _drain(child, sizes, at):
    lines = size = 0
    for block in iter(lambda: child.process.stdout.read(1 << 20), b""):
        lines += block.count(b"\n")
        size += len(block)
    sizes[at] = Size(lines, size)


def sizes_of(commands, clock):
    """Runs programs at the same time. Returns the Size of each output."""
    children, sizes, threads = [], [None] * len(commands), []
    try:
        for i, command in enumerate(commands):
            children.append(Child(command, clock, subprocess.PIPE))
            threads.append(threading.Thread(target=_drain, args=(children[i], sizes, i)))
            threads[i].start()
        for child in children:
            child.end()
    finally:
        for child in children:
            child.__exit__()
        for thread in threads:
            thread.join()
        for child in children:
            child.process.stdout.close()
    return sizes


def turns(n, clock, *actions):
    """Runs the actions in turns, @n times. Returns a tuple of results for each turn.

    Begins no further turn that would end behind the clock's end."""
    results = []
    while len(results) < n:
        begin = time.monotonic()
        results.append(tuple(action() for action in actions))
        if (time.monotonic() - begin) * 1.1 > clock.left():
            break
    return results
