# SPDX-License-Identifier: MIT
"""Runs programs with a time limit: their CPU time, elapsed time and output."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import namedtuple

Cost = namedtuple("Cost", "cpu wall text")  # seconds, seconds, output (stdout, then stderr) if it was kept
Size = namedtuple("Size", "lines bytes")


class Left(Exception):
    """A row is left out. The text is the reason."""


class Late(Left):
    """A program took longer than its time. The second argument is its output until then."""

    def __str__(self):
        return self.args[0]


class Clock:
    """Seconds that a row, a question or the whole run may take."""

    def __init__(self, seconds, outer=None):
        self.end = time.monotonic() + seconds
        if outer:
            self.end = min(self.end, outer.end)

    def left(self):
        return max(self.end - time.monotonic(), 0)


class Stop:
    """Ends bench/all on a signal. While `with Stop.hold:` runs, the signal waits: a process that just started would be lost."""
    holds = False
    number = 0

    @classmethod
    def catch(cls):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, cls._on_signal)

    @classmethod
    def _on_signal(cls, number, _):
        cls.number = number
        if not cls.holds:
            sys.exit(128 + number)

    class _Hold:
        def __enter__(self):
            Stop.holds = True

        def __exit__(self, *_):
            Stop.holds = False
            if Stop.number:
                sys.exit(128 + Stop.number)

    hold = _Hold()


class Child:
    """A process in a session of its own. The clock's end, and the end of a `with` block, kill the session."""
    alive = set()

    def __init__(self, command, clock, stdout=None, env=None):
        self.command, self.late, self.status = command, False, None
        self.said = tempfile.TemporaryFile()
        self.begin = time.perf_counter()
        try:
            with Stop.hold:
                self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or self.said, stderr=self.said,
                                                env=env, start_new_session=True)
                self.timer = threading.Timer(clock.left(), self._too_late)
                self.timer.daemon = True
                self.alive.add(self)
        except OSError as e:
            self.said.close()
            raise Left(f"cannot start '{command[0]}': {e.strerror}") from e
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
        self.alive.discard(self)

    @classmethod
    def end_all(cls):
        """Ends each process that still runs. Ignores further signals."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for child in list(cls.alive):
            child.__exit__()

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
            raise Late(f"{name} took longer than the time of this row", self._text())
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
            thread = threading.Thread(target=_drain, args=(children[i], sizes, i))
            thread.start()
            threads.append(thread)
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
