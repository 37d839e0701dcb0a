# SPDX-License-Identifier: MIT
"""Layers: which layer and which of its folders may include which, and where external interfaces may appear
(doc/architecture.md). cli/ includes public headers, base/ and arch/ only.

The CMakeLists.txt of a layer declares what each of its folders sees: SEES of ptcap_layer().

usage: layers.py SOURCE_DIR
"""
import os
import re
import sys

from common import LAYERS, finish, grep, prove, sources

LIBRARY = [layer for layer in LAYERS if layer != "cli"]

# An interface, the code that shows its use, the path prefixes where it is allowed.
ONLY_IN = [
    ("Zydis", r'#\s*include\s*[<"]Zydis', ["arch/insn.", "arch/disasm.", "arch/operand."]),
    ("libipt", r'#\s*include\s*[<"]intel-pt', ["capture/soft/", "decode/"]),
    ("ptrace", r'#\s*include\s*<(sys|linux)/ptrace\.h>|\bptrace\s*\(',
     ["capture/step/", "capture/watch/", "capture/live/", "capture/host/debugreg_probe."]),
    ("perf_event_open", r"\b(SYS|__NR)_perf_event_open\b|\bperf_event_open\s*\(", ["capture/"]),
    ("libelf or libdw", r'#\s*include\s*[<"](elfutils/|libelf\.h|gelf\.h|libdw|dwarf\.h|libdwfl)',
     ["decode/"]),
    ("libiberty", r'#\s*include\s*[<"](libiberty/|demangle\.h)', ["decode/"]),
    ("zstd", r'#\s*include\s*[<"]zstd', ["auxtrace/writer/compress.", "auxtrace/reader/inflate.", "decode/elf/decompress.", "decode/elf/zstd_sections."]),
    ("liblzma", r'#\s*include\s*[<"]lzma\.h', ["decode/elf/decompress."]),
    ("zlib", r'#\s*include\s*[<"]zlib\.h', ["decode/elf/decompress.", "cli/decode/gzip_out.", "cli/view/page_writer.", "cli/serve/packed_chunk."]),
    ("QEMU's plugin API", r'#\s*include\s*[<"]qemu-plugin', ["capture/emu/"]),
    ("libarchive", r'#\s*include\s*[<"]archive', ["auxtrace/bundle/"]),
    ("JSON", r'#\s*include\s*[<"]jansson', ["cli/", "auxtrace/bundle/manifest."]),
    ("option parsing", r'#\s*include\s*<getopt\.h>|\bgetopt(_long)?\s*\(', ["cli/"]),
    ("printing", r"\b(v?printf|puts|putchar|perror|psignal)\s*\(|\b(stdout|stderr)\b", ["cli/"]),
    ("exit", r"(?<!_)\b(exit|quick_exit|abort|errx?|warnx?)\s*\(", ["cli/"]),
]
SYSTEM_FILES = r'"/(proc|sys)/'  # only capture/ reads these
# Also /proc/self/fd, to name or open a file; the roots of containers; the amount of memory in use.
NAMES_A_FILE = ("base/budget.c", "base/temp_name.c", "base/tmpfile.c", "decode/image/code_memfd.c", "decode/elf/file_search.c", "base/untrusted.c")


DECLARED = re.compile(r"ptcap_layer\(\s*([\w/]+)\s+SEES\s+(.*?)\s(?:LIBS|SOURCES)\s", re.S)
SET = re.compile(r"\bset\(\s*(\w+)\s+([^)]*)\)")


def declared(root):
    """Return {folder: the folders and layers it sees}, from CMake's files."""
    sees = {}
    for layer in LAYERS:
        path = os.path.join(root, layer, "CMakeLists.txt")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for name, value in SET.findall(text):
            text = text.replace("${%s}" % name, value)
        for folder, words in DECLARED.findall(text):
            if "/" in folder:
                sees[folder] = words.split() + [folder]
    return sees


def look_at_folders(root):
    """Return complaints about includes of folders that the including folder does not see."""
    complaints = []
    for folder, sees in declared(root).items():
        paths = [p for p in sources(root, [folder]) if os.path.dirname(p) == folder]
        for path, line, m in grep(root, paths, r'#\s*include\s*"([^">]+)"'):
            there = os.path.dirname(m.group(1))
            if there.split("/")[0] in LAYERS and not any(there == s or there.startswith(s + "/") for s in sees):
                complaints.append(f"{path}:{line}: {folder}/ does not see {there}/ (SEES in CMakeLists.txt)")
    return complaints


def check(root):
    complaints = look_at_folders(root)
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
    "decode/CMakeLists.txt": "set(core decode/a decode/b)\nptcap_layer(decode/low SEES base SOURCES x.c)\n"
                             "ptcap_layer(decode/a SEES base decode/low ${core}\n\tLIBS x\n\tSOURCES x.c)\n",
    "decode/low/x.c": '#include "base/a.h"\n#include "decode/low/x.h"\n',
    "decode/a/x.c": '#include "decode/low/x.h"\n#include "decode/b/x.h"\n',
    "cli/a.c": '#include <getopt.h>\n#include "ptcap/decode.h"\n#include "arch/a.h"\n#include "base/a.h"\n#include "cli.h"\n'
               'void f(void) { printf("x"); exit(1); }\n',
}
BAD = [
    ("decode/low/bad.c", '#include "decode/a/x.h"\n'),
    ("decode/a/bad.c", '#include "decode/c/x.h"\n'),
    ("decode/low/bad.h", '#include "arch/insn.h"\n'),
    ("base/bad.h", '#include "arch/insn.h"\n'),
    ("arch/bad.c", '#include "auxtrace/record/layout.h"\n'),
    ("auxtrace/bad.c", '#include "capture/rings/ring.h"\n'),
    ("auxtrace/sub/bad.c", '#  include <decode/items/item_queue.h>\n'),
    ("capture/bad.c", '#include "decode/symbols/symbol.h"\n'),
    ("decode/bad.c", '#include "capture/rings/ring.h"\n'),
    ("decode/bad2.c", '#include "cli.h"\n'),
    ("capture/soft/bad.c", '#include "../../decode/image/ipt_image.h"\n'),
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
    ("cli/bad.c", '#include "decode/a.h"\n'),
    ("cli/bad.h", '#include "capture/a.h"\n'),
    ("cli/bad.c", '#include "auxtrace/a.h"\n'),
]

prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1], LAYERS))
