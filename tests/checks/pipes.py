# SPDX-License-Identifier: MIT
"""With `pipefail`, no shell script pipes into a reader that leaves before the end of its input.

`grep -q` and `head` exit at once, so SIGPIPE may end the writer. The pipe's status is then 141, in some of the runs.

usage: pipes.py SOURCE_DIR
"""
import os
import re
import sys

from common import finish, prove

PLACES = (".ci", "scripts", "tests", "examples", "bench")
EARLY = re.compile(r"(?<!\|)\|(?:\s|\\\n)*(grep\s+(?:-\S+\s+)*-\w*q\w*|grep\s+(?:-\S+\s+)*-m|head)\b")


def scripts(root):
    """Return the paths of our shell scripts, relative to @root."""
    found = []
    for place in PLACES:
        for where, _, names in os.walk(os.path.join(root, place)):
            for name in names:
                path = os.path.join(where, name)
                if name.endswith(".sh") or is_script(path):
                    found.append(os.path.relpath(path, root))
    return sorted(found)


def is_script(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as f:
        return re.match(rb"#! ?/(usr/)?bin/(env )?(ba)?sh\b", f.read(40)) is not None


def check(root):
    complaints = []
    for path in scripts(root):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = re.sub(r"(?m)^[ \t]*#.*", "", f.read())
        if "pipefail" in text:
            complaints += [f"{path}:{text.count(chr(10), 0, m.start()) + 1}: '{m.group(1)}' may end the writer of its pipe"
                           for m in EARLY.finditer(text)]
    return complaints


GOOD = {
    "tests/a.sh": "#!/bin/sh\nmake | grep -q x\n",
    "tests/b.sh": "set -o pipefail\n# make | grep -q x\nmake | grep x || head -n 1 y\ngrep -q x y || grep -q z y\n",
    "scripts/c": "#!/bin/bash\nset -eu -o pipefail\nsort <x | uniq -c\n",
}
BAD = [
    ("tests/d.sh", "set -o pipefail\nmake | grep -q x\n"),
    ("tests/d.sh", "set -o pipefail\nmake |\n\tgrep -E -qx x\n"),
    ("tests/d.sh", "set -o pipefail\nmake | sort \\\n\t| head -n 1\n"),
    ("scripts/d", "#!/bin/bash\nset -o pipefail\nmake | grep -m 1 x\n"),
]

prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not scripts(sys.argv[1]))
