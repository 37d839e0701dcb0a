# SPDX-License-Identifier: MIT
"""The entries and ends of `decode --calls --format=json`."""

import json
from collections import defaultdict

from lib import PTCAP, Run


def call_lines(path, *options):
    """Return the objects of entries, ends and gaps. The member "replaced" is true for an end by which another program, or
    another thread with the same tid, took the place: nobody saw the function end."""
    text = Run([PTCAP, "decode", "-i", path, "--calls", "--format=json", *options]).expect(0).out
    objects, unwound = [json.loads(line) for line in text.splitlines()], defaultdict(list)
    for o in objects:
        if o.get("type") == "leave":
            o["replaced"] = False
            unwound[o["tid"]] = unwound[o["tid"]] + [o] if o["how"] == "unwinding" else []
        elif o.get("type") == "enter":
            if not o["depth"] and o["how"] == "trace":
                for end in unwound[o["tid"]]:
                    end["replaced"] = True
            unwound[o["tid"]] = []
    return objects
