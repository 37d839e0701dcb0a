# SPDX-License-Identifier: MIT
"""Layers: which layer may include which, and where external interfaces may appear
(doc/architecture.md).

usage: layers.py SOURCE_DIR
"""
import sys

from common import LAYERS, finish, grep, prove, sources

LIBRARY = [layer for layer in LAYERS if layer != "cli"]

# An interface, the code that shows its use, the path prefixes where it is allowed.
ONLY_IN = [
    ("Zydis", r'#\s*include\s*[<"]Zydis', ["arch/insn.", "arch/disasm.", "arch/operand."]),
    ("libipt", r'#\s*include\s*[<"]intel-pt', ["capture/soft/", "decode/"]),
    ("ptrace", r'#\s*include\s*<(sys|linux)/ptrace\.h>|\bptrace\s*\(',
     ["capture/step/", "capture/watch/"]),
    ("perf_event_open", r"\b(SYS|__NR)_perf_event_open\b|\bperf_event_open\s*\(", ["capture/"]),
    ("libelf or libdw", r'#\s*include\s*[<"](elfutils/|libelf\.h|gelf\.h|libdw|dwarf\.h|libdwfl)',
     ["decode/"]),
    ("libiberty", r'#\s*include\s*[<"](libiberty/|demangle\.h)', ["decode/"]),
    ("zstd", r'#\s*include\s*[<"]zstd', ["auxtrace/compress.", "auxtrace/inflate.", "decode/unpack.", "decode/unzstd."]),
    ("zlib and liblzma", r'#\s*include\s*[<"](zlib|lzma)\.h', ["decode/unpack."]),
    ("QEMU's plugin API", r'#\s*include\s*[<"]qemu-plugin', ["capture/emu/"]),
    ("JSON output", r'#\s*include\s*[<"]jansson', ["cli/"]),
    ("option parsing", r'#\s*include\s*<getopt\.h>|\bgetopt(_long)?\s*\(', ["cli/"]),
    ("printing", r"\b(v?printf|puts|putchar|perror|psignal)\s*\(|\b(stdout|stderr)\b", ["cli/"]),
    ("exit", r"(?<!_)\b(exit|quick_exit|abort|errx?|warnx?)\s*\(", ["cli/"]),
]
SYSTEM_FILES = r'"/(proc|sys)/'  # only capture/ reads these
# Also /proc/self/fd, to name or open a file; the roots of containers; the amount of memory in use.
NAMES_A_FILE = ("base/budget.c", "base/hidden.c", "base/tmpfile.c", "decode/codemem.c", "decode/search.c", "base/untrusted.c")


def check(root):
    complaints = []
    for layer, sees in LAYERS.items():
        paths = sources(root, [layer])
        for path, line, m in grep(root, paths, r'#\s*include\s*([<"])([^>"]+)[>"]'):
            quote, name = m.groups()
            top = name.split("/")[0] if "/" in name else None
            if top in LAYERS and top != layer and top not in sees:
                complaints.append(f"{path}:{line}: {layer}/ may not include {name}")
            elif quote == '"' and layer != "cli" and top not in LAYERS and top != "ptcap":
                complaints.append(f"{path}:{line}: {name} is neither of a layer nor public")
    paths = sources(root, LAYERS)
    for what, pattern, where in ONLY_IN:
        for path, line, m in grep(root, paths, pattern):
            if not path.startswith(tuple(where)):
                complaints.append(f"{path}:{line}: {what} ({m.group(0).strip()}) belongs in "
                                  + " and ".join(where))
    library = [p for p in sources(root, LIBRARY) if not p.startswith(("capture/", *NAMES_A_FILE))]
    for path, line, m in grep(root, library, SYSTEM_FILES, strings=True):
        complaints.append(f"{path}:{line}: only capture/ reads {m.group(0)[1:]}")
    return complaints


GOOD = {
    "base/a.c": '#include "base/a.h"\n#include <stdio.h>\n/* printf("x"), "/proc/self" */\n',
    "arch/insn.c": '#include <Zydis/Zydis.h>\n#include "base/a.h"\n#include "ptcap/kind.h"\n',
    "auxtrace/a.c": '#include "arch/a.h"\n',
    "capture/soft/a.c": '#include <intel-pt.h>\n#include "auxtrace/a.h"\n',
    "capture/step/a.c": '#include <sys/ptrace.h>\nvoid f(void) { ptrace(0); _exit(127); }\n'
                        'const char *p = "/proc/%d/maps";\n',
    "decode/a.c": '#include <elfutils/libdw.h>\n#include <intel-pt.h>\n'
                  'int f(void) { return snprintf(0, 0, "printf("); }\n',
    "cli/a.c": '#include <getopt.h>\n#include "decode/a.h"\n#include "capture/a.h"\n#include "cli.h"\n'
               'void f(void) { printf("x"); exit(1); }\n',
}
BAD = [
    ("base/bad.h", '#include "arch/insn.h"\n'),
    ("arch/bad.c", '#include "auxtrace/layout.h"\n'),
    ("auxtrace/bad.c", '#include "capture/ring.h"\n'),
    ("auxtrace/sub/bad.c", '#  include <decode/item.h>\n'),
    ("capture/bad.c", '#include "decode/symbol.h"\n'),
    ("decode/bad.c", '#include "capture/ring.h"\n'),
    ("decode/bad2.c", '#include "cli.h"\n'),
    ("capture/soft/bad.c", '#include "../../decode/ipt.h"\n'),
    ("decode/bad.c", '#include <Zydis/Zydis.h>\n'),
    ("capture/bad.c", '#include <intel-pt.h>\n'),
    ("capture/perf/bad.c", '#include <sys/ptrace.h>\n'),
    ("decode/bad.c", 'long f(void) { return ptrace(0, 1, 2, 3); }\n'),
    ("auxtrace/bad.c", 'long f(void) { return syscall(SYS_perf_event_open, 0); }\n'),
    ("capture/bad.c", '#include <libelf.h>\n'),
    ("cli/bad.c", '#include <elfutils/libdw.h>\n'),
    ("cli/bad.c", '#include <libiberty/demangle.h>\n'),
    ("auxtrace/bad.c", '/* a comment */ void f(void) { printf("x"); }\n'),
    ("auxtrace/bad.c", 'void f(void) { fputs("x", stderr); }\n'),
    ("base/bad.c", 'void f(void) { exit(1); }\n'),
    ("capture/bad.c", 'int f(void) { return getopt(0, 0, ""); }\n'),
    ("decode/bad.c", 'const char *p = "/proc/self/maps";\n'),
    ("base/bad.c", '#include <jansson.h>\n'),
    ("decode/bad.c", '#include <zlib.h>\n'),
]

prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1], LAYERS))
