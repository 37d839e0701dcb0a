#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""archive_parts.py NAME: bundles of `ptcap archive --reached`, which have parts of files, and bundles of recordings without trace.

Each function below is a case. Each compares the output for the bundle with the output for the
recording while its files are there.
"""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

import lib
from archive import NAMED, SOURCE, archive, check_parts, compiled, give_way, manifest, packed, put, recorded, same, unpacked, views
from lib import PTCAP, Run, check, prog

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


@case
def reached(folder):
    """With --reached, a file has names and the pages that ran. Decoding needs no other page."""
    far = "__attribute__((section(\".text.far\"), used)) void far%d(void) { __asm__ volatile(\".skip 8192, 0x90\"); }\n"
    source = os.path.join(folder, "far.c")
    with open(source, "w", encoding="ascii") as f:
        f.writelines(far % i for i in range(9))
    for name, options in (("ided", []), ("plain", ["-Wl,--build-id=none"])):
        path, out = compiled(folder, name, source, *options)
        recorded(path, out)
        want, bundle = views(out, some=NAMED), archive(out, "--reached")
        check(check_parts(folder, bundle, path) >= 9 * 2 - 1, "pages that did not run are in the bundle")
        check(": 1 program file (1 in part)\n" in Run([PTCAP, "info", bundle]).expect(0).out, "the part is not named")
        give_way(path)
        same(views(bundle, some=NAMED), want, lines=False)
        # It remains a part, also in a bundle of the bundle.
        with open(bundle, "rb") as a, open(archive(bundle), "rb") as b, open(archive(bundle, "--reached"), "rb") as c:
            first = a.read()
            check(b.read() == first, "the bundle of a bundle differs")
            check(c.read() == first, "the bundle of the reached parts of a bundle differs")


def with_recording(bundle, recording, out):
    """Write the bundle as @out, with another recording in it."""
    with open(recording, "rb") as f:
        data = f.read()
    made = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(unpacked(bundle))) as t, tarfile.open(fileobj=made, mode="w") as to:
        listed = json.load(t.extractfile("manifest.json"))
        listed["members"][0].update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
        for m in t.getmembers():
            content = {"manifest.json": json.dumps(listed).encode(), "perf.data": data}.get(m.name) or t.extractfile(m).read()
            info = tarfile.TarInfo(m.name)
            info.size = len(content)
            to.addfile(info, io.BytesIO(content))
    packed(made.getvalue(), out)


@case
def without_trace(folder):
    """A recording of `ptcap stacks` has no trace. The bundle has all mapped files."""
    path, out = os.path.join(folder, "waits"), os.path.join(folder, "stacks.data")
    shutil.copy(shutil.which("sleep"), path)
    target = subprocess.Popen([path, "1000"])
    try:
        Run([PTCAP, "stacks", "-p", str(target.pid), "-o", out]).expect(0)
    finally:
        target.kill()
        target.wait()
    want, bundle = Run([PTCAP, "stacks", out]).expect(0).out, archive(out)
    check(path in [m.get("path") for m in manifest(bundle)["members"]], "the program is not in the bundle")
    give_way(path)
    check(Run([PTCAP, "stacks", bundle]).expect(0).out == want, "the stacks differ")


@case
def reached_lacks(folder):
    """Code that the bundle lacks is missing code. It is not decoded from the zeros in its place."""
    # With an argument, the program calls a function on a page of its own.
    source, path, out = (os.path.join(folder, n) for n in ("two.c", "two", "perf.data"))
    with open(source, "w", encoding="ascii") as f:
        f.write('__attribute__((noinline, aligned(4096))) void other(void) { __asm__ volatile(".skip 4096, 0x90"); }\n')
        f.write(SOURCE.replace("_start(void) {", "run(long argc) {\n\tif (argc > 1)\n\t\tother();"))
        f.write('__asm__(".globl _start\\n_start: mov (%rsp), %rdi\\n call run\\n");')
    Run(["gcc", "-O1", "-nostdlib", "-static", "-o", path, source], cwd=folder).expect(0)
    recorded(path, out)
    bundle, second = archive(out, "--reached"), os.path.join(folder, "second")
    lib.record(second, [path, "more"]).expect(0)
    mixed = os.path.join(folder, "mixed")
    with_recording(bundle, out, mixed)
    whole = Run([PTCAP, *NAMED[0], "-i", second]).expect(0)
    check("other" in whole.out, whole.out)
    same(views(mixed, some=NAMED[:1]), views(out, some=NAMED[:1]))
    with_recording(bundle, second, mixed)
    give_way(path)
    r = Run([PTCAP, *NAMED[0], "-i", mixed]).expect(0)
    check("no code" in r.out + r.err and "other" in r.out, f"{r.out}\n{r.err}")
    listed = set(re.findall(r"[0-9a-f]{6,}.*", whole.out))
    wrong = [b for b in re.findall(r"[0-9a-f]{6,}.*", r.out) if b not in listed and "gap" not in b]
    check(not wrong, f"branches from zeros: {wrong}")


@case
def reached_library(folder):
    """Names of PLT stubs, and names of a stripped program from its debug file."""
    path = put(folder, "program", prog("pie"))
    out = os.path.join(folder, "perf.data")  # the program exits with status 3
    debug = path + ".debug"
    Run(["objcopy", "--only-keep-debug", path, debug]).expect(0)
    Run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", path]).expect(0)
    lib.record(out, [path]).expect(3)
    some = (NAMED[0], ["report", "--full-names"])
    want, bundle = views(out, some=some), archive(out, "--reached")
    check("@plt" in want[0].out and "main" in want[0].out, want[0].out[:2000])
    check_parts(folder, bundle, path)
    partial = [m for m in manifest(bundle)["members"] if m.get("partial")]
    check({m["kind"] for m in partial} == {"code", "debug"}, partial)
    os.unlink(debug)
    give_way(path)
    same(views(bundle, some=some), want)
    check(os.path.getsize(bundle) * 2 < os.path.getsize(archive(out)), "the parts are not smaller")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
