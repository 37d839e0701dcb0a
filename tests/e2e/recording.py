# SPDX-License-Identifier: MIT
"""The recording of a case for truth.py, and the form of its truth."""

import os

import store
from lib import Run, check

PREFIX = []  # for the commands of this case: `setarch -R`, if a check must see the same addresses in two runs
taken = {}  # this case's recordings: checks share those recorded in the same way


def recorded(folder, argv, *options, name="perf.data", says=None):
    """Record; the program must not notice. Returns (path, path of the truth); the caller must not
    change either file."""
    key = (*argv, None, *options)
    if key not in taken:
        path = os.path.join(folder, name)
        r = store.fetch(path, argv, "--truth", path + ".truth", *options, prefix=PREFIX, anew=not store.READS)
        if not store.READS:
            plain = Run([*PREFIX, *argv])
            r.expect(plain.status)
            check(r.out == plain.out, f"output changed: {r.out!r}, plain {plain.out!r}")
        taken[key] = path, r.out
    path, out = taken[key]
    check(says is None or says in out.splitlines(), f"{says!r} is not in {out!r}")
    return path, path + ".truth"


def shape(want):
    """Check the form of a truth for a launched program with one thread."""
    check(len(want) == 1, f"threads {sorted(want)}, expected one")
    well_formed(next(iter(want.values())))


def well_formed(flow):
    """Entries and exits alternate, and all else is between an entry and an exit."""
    check(flow[0][0] == 0 and flow[0][2] == "start", f"begins with {flow[0]}")
    check(flow[-1][1] == 0, f"ends with {flow[-1]}")
    inside = False
    for t in flow:
        if t[0] == 0:
            wrong, inside = t[2] != "start" or inside, True
        else:
            wrong, inside = t[2] == "start" or not inside, t[1] != 0
        if wrong:
            check(False, f"an entry within, or a transfer outside: {t}")
