# SPDX-License-Identifier: MIT
"""Every header compiles alone, twice in a row, and sees only what its layer may see.

Headers of include/ also compile as C99 and as C++, and with the machine's own kernel headers, as
for a user of the library. Each of their functions is exported. Each options struct begins with
its size and has an initialiser.

A header that was clean is compiled again only if it, a header of ours that it includes, the compiler
or a package of the distribution changes.

usage: headers.py SOURCE_DIR C_COMPILER
"""
import hashlib
import os
import re
import subprocess
import sys
import tempfile

from common import LAYERS, Notes, code, finish, prove, sources

FLAGS = ["-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror", "-fsyntax-only"]
C = ["-std=c17", "-Wstrict-prototypes", "-x", "c"]
C99 = ["-std=c99", "-U_GNU_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-Wstrict-prototypes", "-x", "c"]
CXX = ["-std=c++17", "-x", "c++"]
INCLUDED = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
HIDDEN = re.compile(r"^(?!PTC_API |static |typedef |#)[a-z][\w *]*\b(\w+)\(", re.M)
OPTIONS = re.compile(r"^struct (ptc_\w+_opts) \{\s*(.*?)\s*;", re.M | re.S)
FOLDERS = list(LAYERS) + ["include", "tests/support"]


def roots(root, links, path):
    """Return -I options for @path: the public headers, and one folder per layer with a link to only
    that layer."""
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


def digest_of(root, path, flags):
    """Return a digest of what the compiler sees: @path, each header of ours that it includes, the flags and COMMON."""
    key = hashlib.sha256(COMMON + repr([path] + flags).replace(root, ".").encode())
    todo, seen = [path], set()
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        text = read(os.path.join(root, at))
        key.update(at.encode() + b"\0" + text)
        for name in INCLUDED.findall(text.decode()):
            for folder in ("include", "", os.path.dirname(at), os.path.dirname(path)):
                known = os.path.normpath(os.path.join(folder, name))
                # A missing file is also noted, because it may come to exist.
                key.update(f"{known} {os.path.exists(os.path.join(root, known))}\0".encode())
                if os.path.isfile(os.path.join(root, known)):
                    todo.append(known)
    return key.hexdigest()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def common_digest():
    """Return a digest of all that is the same for each header."""
    version = subprocess.run([CC, "--version"], capture_output=True, check=True).stdout
    key = hashlib.sha256(version + read(__file__))
    uapi = os.path.join(UAPI, "third_party/uapi")
    for path in ["/var/lib/dpkg/status"] + [os.path.join(w, n) for w, _, names in os.walk(uapi) for n in sorted(names)]:
        key.update(read(path) if os.path.exists(path) else b"")
    return key.digest()


def compile_alone(name, flags, digest):
    """Return the compiler's messages for a header."""
    if NOTES.has(digest):
        return ""
    said = compile_now(name, flags)
    if not said:
        NOTES.add(digest)
    return said


def compile_now(name, flags):
    return subprocess.run(
        [CC] + FLAGS + flags + ["-"],
        input=f'#include "{name}"\n#include "{name}"\ntypedef int ptc_not_empty;\n',
        text=True, capture_output=True, check=False).stderr


def proved_by_source(root, path):
    """The build compiles @path alone, because its source file includes it first. The include guard
    covers the second inclusion."""
    source = os.path.join(root, path[:-2] + ".c")
    text = code(os.path.join(root, path))
    if not os.path.exists(source) or not re.match(r"\s*(#ifndef \w+\s+#define \w+|#pragma once)", text):
        return False
    first = re.search(r'^#\s*include\s+(\S+)', code(source), re.M)
    return bool(first) and first.group(1).strip('"') in (path, os.path.basename(path))


def check(root):
    complaints = []
    with tempfile.TemporaryDirectory(prefix="ptcap-headers-") as links:
        for path in sources(root, FOLDERS, (".h",)):
            public = path.startswith("include/")
            if not public and proved_by_source(root, path):
                continue
            name = os.path.relpath(path, "include") if public else path
            if path.startswith(("cli/", "tests/")):
                name = os.path.basename(path)
            where = roots(root, links, path)
            uapi = ["-isystem", os.path.join(UAPI, "third_party/uapi")]
            for flags in ([C + where, C99 + where, CXX + where] if public else [C + where + uapi]):
                said = compile_alone(name, flags, digest_of(root, path, [f.replace(links, "") for f in flags]))
                if said:
                    complaints.append(f"{path}: does not compile alone:\n{said}")
            if public:
                for m in HIDDEN.finditer(code(os.path.join(root, path))):
                    complaints.append(f"{path}: {m.group(1)} is not PTC_API")
                text = code(os.path.join(root, path))
                for name, first in OPTIONS.findall(text):
                    if first != "size_t size":
                        complaints.append(f"{path}: {name} does not begin with its size")
                    if f"#define {name.upper()}_INIT" not in text:
                        complaints.append(f"{path}: {name} has no {name.upper()}_INIT")
    return complaints


GOOD = {
    "include/ptcap/a.h": "#pragma once\n#define PTC_API\nstruct a { int x; };\nPTC_API int p(void);\n"
                         "static inline int g(void)\n{\n\treturn p();\n}\n",
    "include/ptcap/o.h": "#pragma once\n#include <stddef.h>\nstruct ptc_o_opts {\n\tsize_t size;\n};\n"
                         "#define PTC_O_OPTS_INIT { sizeof(struct ptc_o_opts) }\n",
    "base/a.h": '#ifndef A\n#define A\n#include <stdint.h>\nuint32_t f(void);\n#endif\n',
    "arch/a.h": '#pragma once\n#include "base/a.h"\n#include "ptcap/a.h"\n',
    "cli/a.h": '#pragma once\n#include "arch/a.h"\n',
}
BAD = [
    ("base/bad.h", "uint32_t f(void);\n"),
    ("base/bad.h", "struct bad { int x; };\n"),
    ("base/bad.h", '#include "arch/a.h"\n'),
    ("include/ptcap/bad.h", '#include "base/a.h"\n'),
    ("include/ptcap/bad.h", "#pragma once\nint f(void);\n"),
    ("include/ptcap/bad.h", "#pragma once\nstatic inline char *f(void *p) { return p; }\n"),
    ("include/ptcap/bad.h", "#pragma once\nint f(struct perf_event_attr a);\n"),
    ("include/ptcap/bad.h", '#pragma once\n#include <assert.h>\nstatic_assert(1, "not in C99");\n'),
    ("include/ptcap/bad.h", "#pragma once\nstruct a { union { int x; char y; }; };\n"),
    ("include/ptcap/bad.h", "#pragma once\n#include <stddef.h>\nstruct ptc_o_opts {\n\tsize_t size;\n};\n"),
    ("include/ptcap/bad.h", "#pragma once\nstruct ptc_o_opts {\n\tint a;\n};\n#define PTC_O_OPTS_INIT { 0 }\n"),
    ("cli/bad.h", "int f();\n"),
]

UAPI, CC = sys.argv[1:3]
COMMON = common_digest()
NOTES = Notes("headers")
prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1], FOLDERS, (".h",)))
