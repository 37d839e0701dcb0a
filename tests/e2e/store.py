# SPDX-License-Identifier: MIT
"""Recordings that tests share.

A test that only reads a recording takes it from here. The recorder of the gcc build makes each recording once, for
the tests of all builds. Its key has all inputs: the recorder, the command, the options, the files that the command
names. A recording is repeated when a file that was mapped in it has changed.

PTCAP_STORE     the folder
PTCAP_RECORDER  the program that records; if it is not the one under test, checks of recording are left out (READS)
"""

import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile

import lib

RECORDER = os.environ.get("PTCAP_RECORDER") or lib.PTCAP
READS = RECORDER != lib.PTCAP  # this build's tests read the recordings of another build


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def stamp(path):
    """Return a value that changes with the file; None if there is no such file."""
    try:
        s = os.stat(path)
    except OSError:
        return None
    return [s.st_size, s.st_mtime_ns]


def recorder_id():
    """Return the digest of all code that records; the build writes it (tests/e2e.cmake)."""
    with open(os.path.join(os.path.dirname(RECORDER), "recorder.id"), encoding="ascii") as f:
        return f.read().strip()


def key_of(source, command, argv, options, prefix):
    """Return a digest of all inputs of the recording that are known before it is made."""
    words = [*prefix, *argv]
    parts = {
        "source": source, "command": command, "argv": argv, "options": options, "prefix": prefix,
        "files": {w: digest(w) for w in words if os.path.isfile(w)},
        "kernel": os.uname().release, "qemu": stamp(shutil.which("qemu-x86_64") or "") if source == "emu" else None,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def mapped(path):
    """Return {file: stamp} of the code that the recording names."""
    dump = lib.Run([RECORDER, "dump", "-i", path, "--type", "MMAP2"])
    names = set(re.findall(r'filename="(/[^"]+)"', dump.out))
    return {name: stamp(name) for name in names if os.path.isfile(name)}


def usable(entry):
    """Return true if the entry is complete and its files are unchanged."""
    try:
        with open(os.path.join(entry, "mapped"), encoding="utf-8") as f:
            then = json.load(f)
    except OSError:
        return False
    return all(stamp(name) == s for name, s in then.items())


class Recorded:
    """The end of a stored recording's command, with the interface of lib.Run."""

    def __init__(self, entry):
        self.entry = entry
        with open(os.path.join(entry, "how.json"), encoding="utf-8") as f:
            o = json.load(f)
        self.argv, self.status = o["argv"], o["status"]
        self.out, self.err = (self.text(name) for name in ("stdout", "stderr"))

    def text(self, name):
        with open(os.path.join(self.entry, name), encoding="utf-8", errors="replace") as f:
            return f.read()

    expect = lib.Run.expect


def make(entry, record, prefix, argv, options, truth_option):
    """Record into a folder that gets its name when it is complete."""
    folder = tempfile.mkdtemp(prefix="making-", dir=os.path.dirname(entry))
    try:
        data, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
        command = [*prefix, *record, "-o", data, *options, *([truth_option, truth] if truth_option else []), "--", *argv]
        with open(os.path.join(folder, "stdout"), "wb") as out:
            run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, check=False)
        status = run.returncode if run.returncode >= 0 else 128 - run.returncode
        with open(os.path.join(folder, "stderr"), "wb") as f:
            f.write(run.stderr)
        lib.check(os.path.exists(data), f"{shlex.join(command)}: exit status {status}\n{run.stderr.decode(errors='replace')}")
        shown = [word.replace(folder, entry) for word in command]
        with open(os.path.join(folder, "how.json"), "w", encoding="utf-8") as f:
            json.dump({"argv": shown, "status": status}, f)
        with open(os.path.join(folder, "mapped"), "w", encoding="utf-8") as f:
            json.dump(mapped(data), f)
        shutil.rmtree(entry, ignore_errors=True)
        os.rename(folder, entry)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def without(options, word):
    """Remove `word VALUE` from the options. Returns (options, VALUE or None)."""
    if word not in options:
        return options, None
    n = options.index(word)
    return options[:n] + options[n + 2 :], options[n + 1]


def fetch(path, argv, *options, source=None, command="record", prefix=(), anew=False):
    """Copy the stored recording of `COMMAND OPTIONS -- ARGV` to @path, and its truth to the file
    behind --truth.

    Makes the recording if it is missing, or if @anew.
    """
    options, truth = without(list(options), "--truth")
    truth_option = "--truth" if command != "snapshot" else None
    source = source or lib.SOURCE
    options = [*lib.RECORD[4:], *options]
    folder = os.path.join(lib.need("PTCAP_STORE"), recorder_id())
    entry = os.path.join(folder, key_of(source, command, list(argv), options, list(prefix)))
    os.makedirs(folder, exist_ok=True)
    with open(entry + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if anew or not usable(entry):
            make(entry, [RECORDER, command, "--source", source], prefix, argv, options, truth_option)
        made = Recorded(entry)
        shutil.copyfile(os.path.join(entry, "perf.data"), path)
        if truth:
            shutil.copyfile(os.path.join(entry, "truth"), truth)
    lib.sources.append(f"the recording {entry}\n  was made by: {shlex.join(made.argv)}\n  to make it anew: rm -r {entry}")
    return made


def fetch_entry(folder, entry):
    """Fetch a recording with many PSBs by an entry (source, command line, options) of a table. Returns its path."""
    source, argv, options = entry
    if source == "emu" and not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64")
    path = os.path.join(folder, "perf.data")
    fetch(path, argv, "--psb-period", "2K", *options, source=source)
    return path
