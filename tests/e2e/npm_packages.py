# SPDX-License-Identifier: MIT
"""Packages of npm that tests use. tests/npm pins their versions and digests. They are installed once in the build folder."""

import fcntl
import hashlib
import os
import shutil
import subprocess

import lib

PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "npm")
FILES = ("package.json", "package-lock.json")


def install(folder):
    """Let npm install the packages into a new folder. Scripts of packages do not run. npm gets all variables, also those of a proxy."""
    os.makedirs(folder)
    for name in FILES:
        shutil.copy(os.path.join(PINS, name), folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000"]
    r = subprocess.run(command, cwd=folder, env=os.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    return None if r.returncode == 0 else (r.stderr.strip().splitlines() or ["npm ci failed"])[0]


def modules():
    """Return the folder of the packages for NODE_PATH. Skips without node or npm, where they are not required, and without a network."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            lib.skip_without(program)
    digest = hashlib.sha256()
    for name in FILES:
        with open(os.path.join(PINS, name), "rb") as f:
            digest.update(f.read())
    root = lib.need("PTCAP_NPM")
    folder = os.path.join(root, digest.hexdigest()[:16])
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(folder):
            fresh = folder + ".new"
            shutil.rmtree(fresh, ignore_errors=True)
            failure = install(fresh)
            if failure:
                lib.skip(f"npm: {failure}; tests/npm needs a registry")
            os.rename(fresh, folder)
    return os.path.join(folder, "node_modules")
