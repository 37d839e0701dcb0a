# SPDX-License-Identifier: MIT
"""Every header compiles alone, twice in a row, and sees only what its layer may see.

usage: headers.py SOURCE_DIR C_COMPILER
"""
import os
import subprocess
import sys
import tempfile

from common import LAYERS, finish, prove, sources

FLAGS = ["-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes",
         "-Wundef", "-Werror", "-fsyntax-only", "-x", "c"]
FOLDERS = list(LAYERS) + ["include", "tests/support"]


def roots(root, links, path):
    """-I for @path: the public headers, and one folder a layer that holds a link to it alone."""
    top = path.split("/")[0]
    sees = LAYERS.get(top, []) + ([top] if top in LAYERS else [])
    if top == "tests":
        sees = LAYERS
    out = ["-I" + os.path.join(root, "include")]
    for layer in sees:
        where = os.path.join(links, layer)
        os.makedirs(where, exist_ok=True)
        link = os.path.join(where, layer)
        if not os.path.islink(link):
            os.symlink(os.path.join(os.path.abspath(root), layer), link)
        out.append("-I" + where)
    if top in ("cli", "tests"):
        out.append("-I" + os.path.join(root, os.path.dirname(path)))
    return out


def check(root):
    complaints = []
    with tempfile.TemporaryDirectory(prefix="ptcap-headers-") as links:
        for path in sources(root, FOLDERS, (".h",)):
            name = os.path.relpath(path, "include") if path.startswith("include/") else path
            if path.startswith(("cli/", "tests/")):
                name = os.path.basename(path)
            run = subprocess.run(
                [CC] + FLAGS + roots(root, links, path)
                + ["-isystem", os.path.join(UAPI, "third_party/uapi"), "-"],
                input=f'#include "{name}"\n#include "{name}"\ntypedef int ptc_not_empty;\n',
                text=True, capture_output=True, check=False)
            if run.returncode:
                complaints.append(f"{path}: does not compile alone:\n{run.stderr}")
    return complaints


GOOD = {
    "include/ptcap/a.h": "#pragma once\nstruct a { int x; };\n",
    "base/a.h": '#ifndef A\n#define A\n#include <stdint.h>\nuint32_t f(void);\n#endif\n',
    "arch/a.h": '#pragma once\n#include "base/a.h"\n#include "ptcap/a.h"\n',
    "cli/a.h": '#pragma once\n#include "arch/a.h"\n',
}
BAD = [
    ("base/bad.h", "uint32_t f(void);\n"),
    ("base/bad.h", "struct bad { int x; };\n"),
    ("base/bad.h", '#include "arch/a.h"\n'),
    ("include/ptcap/bad.h", '#include "base/a.h"\n'),
    ("cli/bad.h", "int f();\n"),
]

UAPI, CC = sys.argv[1:3]
prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1], FOLDERS, (".h",)))
