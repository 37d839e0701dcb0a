# SPDX-License-Identifier: MIT
"""All built and installed files have the protections of cmake/PtcapFlags.cmake, according to
readelf and objdump. The install copies the code, so only the code of installed files is disassembled.

usage: hardened.py SOURCE_DIR BUILD_DIR COMPILER fortify|plain FILE...
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from common import finish

ENDBR = "endbr64"
PAGE = 4096


def run(*argv):
    return subprocess.run(argv, check=True, text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"}).stdout


def functions(path):
    """Return {name: its first instruction, and those that move %rsp} of each function of @path that has a symbol."""
    found, code = {}, None
    for line in run("objdump", "-d", "-w", "--no-show-raw-insn", path).splitlines():
        if line.endswith(">:"):
            code = found.setdefault(line[line.index("<") + 1:-2], [])
        elif code is not None and (not code or ",%rsp" in line) and ":\t" in line:
            code.append(line.split(":\t", 1)[1].split("#")[0].strip())
    return found


def check_stack(code):
    """A frame larger than a page touches each of its pages, and skips none."""
    for name, lines in code.items():
        for line in lines:
            m = re.match(r"sub\s+\$0x([0-9a-f]+),%rsp$", line)
            # A negative number frees stack. The last page of a frame needs no probe of its own.
            if m and 2 * PAGE <= int(m.group(1), 16) < 1 << 63:
                yield f"{name}() takes {int(m.group(1), 16)} bytes of stack at once (-fstack-clash-protection)"


def check_load(path):
    header, segments, dynamic = (run("readelf", "-W", f"-{what}", path) for what in "hld")
    if "DYN" not in re.search(r"Type:\s+(.*)", header).group(1):
        yield "has fixed addresses (PIE)"
    if "GNU_RELRO" not in segments or ".got.plt" in segments:
        yield "its GOT stays writable (-z relro -z now)"
    if not re.search(r"\bBIND_NOW\b|Flags:.*\bNOW\b", dynamic):
        yield "binds late (-z now)"
    if re.search(r"GNU_STACK\s.*\sRWE\s", segments):
        yield "its stack is executable (-z noexecstack)"
    if "TEXTREL" in dynamic:
        yield "its code is relocated"


def faults(path, fortify):
    yield from check_load(path)
    symbols = [line.split() for line in run("readelf", "-W", "--dyn-syms", path).splitlines()]
    symbols = [(s[7].split("@")[0], s[3], s[6]) for s in symbols if len(s) >= 8]
    wanted = {name for name, _, where in symbols if where == "UND"}
    exported = {name for name, kind, where in symbols if where != "UND" and kind == "FUNC"}
    code = functions(path)
    if "__stack_chk_fail" not in wanted:
        yield "has no canaries on its stack (-fstack-protector-strong)"
    if fortify and not any(re.fullmatch(r"__(?!stack)\w+_chk", name) for name in wanted):
        yield "calls no function of the C library that checks sizes (_FORTIFY_SOURCE)"
    entries = [name for name in exported | {"main"} if code.get(name) and not name.startswith("_")]
    if not any("qemu" in e or "ptc" in e or e == "main" for e in entries):
        yield "has no function that is known"
    for name in entries:
        if code[name][0] != ENDBR:
            yield f"{name}() is no target of indirect branches (-fcf-protection)"
            break
    yield from check_stack(code)


def check_installed(build, fortify, names):
    with tempfile.TemporaryDirectory(prefix="ptcap-install-") as prefix:
        run("cmake", "--install", build, "--prefix", prefix)
        found = {name: os.path.join(where, name) for where, _, here in os.walk(prefix) for name in here}
        for name in names:
            if name not in found:
                yield f"{name} is not installed"
                continue
            if re.search(r"\((RPATH|RUNPATH)\)", run("readelf", "-d", found[name])):
                yield f"installed {name}: looks for libraries in a folder of the build"
            for fault in faults(found[name], fortify):  # its code is that of the built file
                yield f"installed {name}: {fault}"


PROGRAM = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char text[100000];

	memset(text, argc, sizeof(text));
	strcpy(text, argv[0]);
	return printf("%s\n", text);
}
"""
GOOD = ["-O2", "-fPIE", "-pie", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack", "-fstack-protector-strong",
        "-fstack-clash-protection", "-fcf-protection", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
BAD = {"PIE": ["-fno-pie", "-no-pie"], "-z relro": ["-Wl,-z,norelro"], "-z now": ["-Wl,-z,lazy"],
       "-z noexecstack": ["-Wl,-z,execstack"], "-fstack-protector-strong": ["-fno-stack-protector"],
       "_FORTIFY_SOURCE": ["-U_FORTIFY_SOURCE"], "-fcf-protection": ["-fcf-protection=none"],
       "-fstack-clash-protection": ["-fno-stack-clash-protection"]}


def prove(compiler):
    """The check reports each protection that is left out."""
    with tempfile.TemporaryDirectory(prefix="ptcap-check-") as folder:
        source, program = os.path.join(folder, "p.c"), os.path.join(folder, "p")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        run(compiler, *GOOD, source, "-o", program)
        complaints = list(faults(program, True))
        if complaints:
            sys.exit("self-test: complains of what is right: " + "; ".join(complaints))
        for what, options in BAD.items():
            run(compiler, *GOOD, *options, source, "-o", program)
            if not any(what in c for c in faults(program, True)):
                sys.exit(f"self-test: did not miss {what}")


def main():
    build, compiler, level, files = sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]
    missing = [tool for tool in ("readelf", "objdump") if not shutil.which(tool)]
    if missing:
        print(f"SKIP: no {missing[0]}")
        sys.exit(77)
    prove(compiler)
    fortify = level == "fortify"
    complaints = [f"{os.path.basename(path)}: {fault}" for path in files for fault in check_load(path)]
    complaints += check_installed(build, fortify, [os.path.basename(path) for path in files])
    finish(complaints, not files)


main()
