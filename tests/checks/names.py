# SPDX-License-Identifier: MIT
"""Names: no static function's name is in five files or more, so grep for a name finds the function.

usage: names.py SOURCE_DIR
"""
import os
import re
import sys

from common import LAYERS, code, finish, prove, sources

FILES_MAX = 4
ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)")
# clang-format puts `static` into column 0, and no space between the name and its parenthesis.
FUNCTION = re.compile(r"^static\s[^;{}=()]*?\b(\w+)\(", re.M)


def functions(path):
    """Return the names of a file's static functions, declared or defined."""
    return set(FUNCTION.findall(ATTRIBUTE.sub("", code(path))))


def check(root):
    files = {}
    for path in sources(root, list(LAYERS)):
        for name in functions(os.path.join(root, path)):
            files.setdefault(name, []).append(path)
    return [f"{paths[0]}: static function {name}() is in {len(paths)} files, more than {FILES_MAX}; let each name say "
            f"what its function does on what: {', '.join(paths)}"
            for name, paths in sorted(files.items()) if len(paths) > FILES_MAX]


def function(head="static int take(void)"):
    return head + "\n{\n\treturn 0;\n}\n"


GOOD = {
    "auxtrace/a.c": "static int take(void);\n\n" + function() + "\nint f(void)\n{\n\treturn take();\n}\n",
    "base/a.h": function("static inline int take(void)"),
    "capture/perf/a.c": function("static struct record *take(struct ring *r)"),
    "cli/a.c": function(),
    "decode/a.c": "/*\nstatic int take(void);\n*/\nstatic const char text[] = \"static int take(void)\";\n",
    "decode/b.c": function("int take(void)"),
    "decode/c.c": "static int (*take)(void);\nstatic const int a[] = { take(0) };\nstatic_assert(take(0), \"\");\n",
    "decode/d.c": function("static int take_record(void)") + "\nint f(struct s *s)\n{\n\treturn s->take(s);\n}\n",
    "tests/unit/a.c": function(),
    "bench/a.c": function(),
    "examples/a.c": function(),
}
BAD = [
    ("arch/bad.c", function()),
    ("arch/bad.c", function("static int take(void);\nstatic int other(void)")),
    ("arch/bad.c", function("static const struct record *take(int a,\n\t\t\t\t int b)")),
    ("arch/bad.c", function("static struct a_long_name\ntake(void)")),
    ("arch/bad.c", function("static __attribute__((noinline)) int take(void)")),
    ("arch/bad.c", function("static __attribute__((format(printf, 1, 2))) int take(const char *fmt, ...)")),
    ("arch/bad.c", function("static INSIDE enum status take(int a)")),
    ("arch/insn/bad.h", function("static inline void take(int (*f)(void))")),
]

prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1], list(LAYERS)))
