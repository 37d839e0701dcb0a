#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""archive.py NAME: bundles of `ptcap archive`, read where the recorded files are gone, or where other
files have their names.

Each function below is a case. Each compares the output for the bundle with the output for the
recording while its files are there.
"""

import ctypes
import io
import json
import os
import random
import re
import shutil
import sys
import tarfile

import lib
import store
from lib import PTCAP, Run, check, prog

CASES = {}
# perf keeps copies of files in ~/.debug, where decode would find the recorded files.
os.environ["PERF_BUILDID_DIR"] = "/nowhere"
os.environ["DEBUGINFOD_URLS"] = ""

VIEWS = (
    ["decode", "-F", "tid,from,to,kind,sym,tosym,srcline"],
    ["decode", "--format", "json"],
    ["decode", "--insn"],
    ["decode", "--counts=edges"],
    ["report", "--full-names"],
)
# Views that need no debug information.
NAMED = (["decode", "-F", "tid,from,to,kind,sym,tosym"], *VIEWS[1:], ["decode", "--insn", "--engine", "libipt"], ["decode", "--calls"])
# No C library: its debug information would take most of the time of the test.
SOURCE = """
__attribute__((noinline)) int triple(int n) { __asm__ volatile("" : "+r"(n)); return 3 * n; }
__attribute__((noreturn)) void _start(void) {
	for (int i = 0; i < 9; i++)
		triple(i);
	for (;;)
		__asm__ volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");
}
"""


def case(f):
    CASES[f.__name__] = f
    return f


def put(folder, name, source):
    """Make a copy of a file."""
    path = os.path.join(folder, name)
    shutil.copy(source, path)
    return path


def views(path, prefix=(PTCAP,), some=VIEWS):
    """Return the output of each view of the recording at @path."""
    return [Run([*prefix, *v, "-i", path]).expect(0) for v in some]


def same(got, want, lines=True):
    """Compare outputs; without @lines, the wanted ones without their source lines."""
    for g, w in zip(got, want):
        check(w.out, f"no output: {w.err}")
        check(g.out == (w.out if lines else re.sub(r" +# \S+:\d+$", "", w.out, flags=re.M)), f"another output of {g.argv}\n{g.err}\nnot\n{w.err}")


def archive(path, *options):
    """Return the name of the bundle of the recording at @path."""
    bundle = path + ".ptcap"
    r = Run([PTCAP, "archive", "-i", path, "-o", bundle, *options]).expect(0)
    check(f"wrote '{bundle}'" in r.err, r.err)
    return bundle


def unpacked(bundle):
    """Return the tar archive in the bundle. Python 3.11 has no zstd."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    with open(bundle, "rb") as f:
        data = f.read()
    out = ctypes.create_string_buffer(64 << 20)
    n = zstd.ZSTD_decompress(out, len(out), data, len(data))
    check(n <= len(out), "zstd cannot unpack the bundle")
    return out.raw[:n]


def packed(data, path):
    """Write the tar archive as a bundle."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    zstd.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    out = ctypes.create_string_buffer(len(data) + len(data) // 128 + 1024)
    n = zstd.ZSTD_compress(out, len(out), bytes(data), len(data), 1)
    check(n <= len(out), "zstd cannot pack the bundle")
    with open(path, "wb") as f:
        f.write(out.raw[:n])


def member(bundle, path):
    """Return what the manifest lists for the recorded path, and the bytes of the member."""
    listed = next(m for m in manifest(bundle)["members"] if m.get("path") == path)
    with tarfile.open(fileobj=io.BytesIO(unpacked(bundle))) as t:
        return listed, t.extractfile(listed["name"]).read()


def manifest(bundle):
    with tarfile.open(fileobj=io.BytesIO(unpacked(bundle))) as t:
        return json.load(t.extractfile("manifest.json"))


def members(bundle):
    """Return {path: kind} of the members that have a path."""
    return {m["path"]: m["kind"] for m in manifest(bundle)["members"] if "path" in m}


def compiled(folder, name, *options):
    """Compile a program with debug information, and record it. Returns its path and the recording."""
    source, path, out = (os.path.join(folder, name + e) for e in (".c", "", ".data"))
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    Run(["gcc", "-g", "-O1", "-nostdlib", "-static", "-o", path, source, *options], cwd=folder).expect(0)
    return path, out


def recorded(path, out):
    lib.record(out, [path]).expect(0)


def give_way(*paths):
    """Put another ELF file in the place of each file."""
    for path in paths:
        os.unlink(path)
        shutil.copy(prog("hello"), path)


@case
def replaced(folder):
    """The program and its library are gone, and then other files have their names."""
    path, out = compiled(folder, "small")
    recorded(path, out)
    want, bundle = views(out), archive(out)
    check(members(bundle)[path] == "code", members(bundle))
    os.unlink(path)
    same(views(bundle), want)
    shutil.copy(prog("hello"), path)
    same(views(bundle), want)
    piped = Run(["sh", "-c", '"$@" -i - <"$0"', bundle, PTCAP, *VIEWS[0]]).expect(0)
    same([piped], want[:1])
    # The recording alone needs the file.
    alone = Run([PTCAP, *VIEWS[0], "-i", out])
    check(alone.out != want[0].out, "the other file was not used without the bundle")


def in_root(root, *others):
    """Return a command prefix that runs ptcap in a root with nothing else but /proc and @others."""
    tool = os.path.join(root, "tool")
    os.makedirs(tool)
    for name in ("proc", "tmp", "var/tmp", "dev"):
        os.makedirs(os.path.join(root, name))
    shutil.copy(PTCAP, os.path.join(tool, "ptcap"))
    # ptcap loads libarchive with the first bundle.
    library = re.search(r"libarchive\.so\.13 .*x86-64.* => (/\S+)", Run(["/sbin/ldconfig", "-p"]).expect(0).out)[1]
    needed = {library}.union(*(re.findall(r"(/\S+) \(0x", Run(["ldd", of]).expect(0).out) for of in (PTCAP, library)))
    for name in needed:
        shutil.copy(name, tool)
    loader = next(os.path.basename(n) for n in needed if "ld-linux" in n)
    for name in others:
        os.makedirs(root + os.path.dirname(name), exist_ok=True)
        shutil.copy(prog("hello"), root + name)
    user = ["--map-root-user"] if os.geteuid() else []
    script = 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"'
    ret = ["unshare", *user, "--mount", "sh", "-c", script, root, f"/tool/{loader}", "--library-path", "/tool", "/tool/ptcap"]
    if Run([*ret, "--version"]).status:
        lib.skip("no root of its own here")
    return ret


@case
def other_root(folder):
    """In a root without the originals, and in one with other files in their places."""
    path, out = os.path.join(folder, "perf.data"), os.path.join(folder, "bundle")
    lib.record(path, ["/bin/true"]).expect(0)
    want, bundle = views(path, some=VIEWS[3:4]), archive(path)
    names = [n for n in members(bundle) if n.startswith("/")]
    check(len([n for n in names if members(bundle)[n] == "code"]) >= 2, names)
    for name, others in (("empty", ()), ("others", names)):
        root = os.path.join(folder, name)
        prefix = in_root(root, *others)
        shutil.copy(bundle, root + "/bundle")
        shutil.copy(path, root + "/perf.data")
        same(views("/bundle", prefix, VIEWS[3:4]), want)
        alone = Run([*prefix, *VIEWS[3], "-i", "/perf.data"])
        check(alone.out != want[0].out, "the recording alone found its files")
    check(not os.path.exists(out), "a file was made")


@case
def no_id(folder):
    """A file without a build-id is found by its path. Another inode is another file."""
    path, out = compiled(folder, "small", "-Wl,--build-id=none")
    recorded(path, out)
    want, bundle = views(out), archive(out)
    listed = [m for m in manifest(bundle)["members"] if m.get("path") == path]
    check(len(listed) == 1 and "build_id" not in listed[0] and listed[0]["name"].startswith("files/"), listed)
    check(listed[0]["inode"] == os.stat(path).st_ino, listed)
    give_way(path)
    same(views(bundle), want)


@case
def no_secrets(folder):
    """A file that is no ELF file is not added, although the recording says that it is code."""
    path, out = compiled(folder, "small", "-Wl,--build-id=none")
    recorded(path, out)
    with open(path, "r+b") as f:
        f.write(b"password")
    r = Run([PTCAP, "archive", "-i", out, "-o", out + ".ptcap"]).expect(0)
    check(f"left out '{path}': it is no ELF file" in r.err, r.err)
    check(path not in members(out + ".ptcap"), "the file is in the bundle")


@case
def debug_files(folder):
    """Separate debug files, by name and CRC and by build-id, and an alternate one."""
    for name, options in (("ided", []), ("plain", ["-Wl,--build-id=none"])):
        path, out = compiled(folder, name, *options)
        debug = path + ".debug"
        Run(["objcopy", "--only-keep-debug", path, debug]).expect(0)
        Run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", path]).expect(0)
        recorded(path, out)
        want, bundle = views(out), archive(out)
        check(f"{name}.c:" in want[0].out, want[0].out)
        without = archive(out, "--no-debug")
        check("debug" not in members(without).values(), members(without))
        bundle = archive(out)
        check(debug in members(bundle) or members(bundle)[path], members(bundle))
        os.unlink(debug)
        give_way(path)
        same(views(bundle), want)


@case
def split(folder):
    """Split debug information: the program itself has the lines, so the bundle needs no .dwo file."""
    path, out = compiled(folder, "small", "-gsplit-dwarf")
    split_off = [n for n in os.listdir(folder) if n.endswith(".dwo")]
    check(split_off, os.listdir(folder))
    recorded(path, out)
    want, bundle = views(out), archive(out)
    check("small.c:" in want[0].out, want[0].out)
    for name in split_off:
        os.unlink(os.path.join(folder, name))
    give_way(path)
    same(views(bundle), want)


@case
def alternate(folder):
    """Debug information that two programs share (dwz)."""
    if not shutil.which("dwz"):
        lib.skip("no dwz here")
    made = [compiled(folder, name, "-gdwarf-4") for name in ("one", "two")]
    Run(["dwz", "-m", "common", "-M", os.path.join(folder, "common"), "one", "two"], cwd=folder)
    common = os.path.join(folder, "common")
    if not os.path.exists(common):
        lib.skip("dwz found nothing to share")
    path, out = made[0]
    recorded(path, out)
    want, bundle = views(out), archive(out)
    check(list(m["kind"] for m in manifest(bundle)["members"]).count("debug") >= 1, members(bundle))
    os.unlink(common)
    give_way(path)
    same(views(bundle), want)


@case
def jitdump(folder):
    """Generated code of a jitdump, and names of a perf-PID.map."""
    path = os.path.join(folder, "perf.data")
    lib.record(path, [prog("jitdump"), "10"], cwd=folder).expect(0)
    want, bundle = views(path), archive(path)
    check("made3" in want[0].out, "no generated names")
    dumps = [n for n in os.listdir(folder) if n.endswith(".dump")]
    check([k for n, k in members(bundle).items() if n.endswith(".dump")] == ["data"], members(bundle))
    for name in dumps:
        os.unlink(os.path.join(folder, name))
    same(views(bundle), want)
    pid = re.search(r"jit-(\d+)\.dump", " ".join(dumps))[1]
    alone = Run([PTCAP, *VIEWS[0], "-i", path])
    check(alone.out != want[0].out, "the names came from elsewhere")
    addresses = sorted({int(a, 16) for a in re.findall(r" ([0-9a-f]+) icall \S+ made\d+\+0x0 ", want[0].out)})
    names = f"/tmp/perf-{pid}.map"
    with open(names, "x", encoding="ascii") as f:
        f.writelines(f"{a:x} 10 named{i}\n" for i, a in enumerate(addresses[:3]))
    try:
        want, bundle = views(path), archive(path)
    finally:
        os.unlink(names)
    check("named0" in want[0].out, "no names of the map")
    check(members(bundle).get(names) == "data", members(bundle))
    same(views(bundle), want)


@case
def crash(folder):
    """The stack of a crash leads through files that the trace did not reach."""
    path = os.path.join(folder, "perf.data")
    program = put(folder, "program", prog("crash"))
    # Without debug information, the parts of --reached are enough.
    Run(["objcopy", "--strip-debug", program]).expect(0)
    Run([PTCAP, "crash", "--source", lib.SOURCE, "-q", "-o", path, "--", program, "null"])
    want = Run([PTCAP, "crash", "show", "-i", path]).expect(0)
    bundles = [archive(path), os.path.join(folder, "parts")]
    Run([PTCAP, "archive", "--reached", "-i", path, "-o", bundles[1]]).expect(0)
    check_parts(folder, bundles[1], program)
    give_way(program)
    for bundle in bundles:
        got = Run([PTCAP, "crash", "show", "-i", bundle]).expect(0)
        # The parts have no lines of the C library.
        got, out = (re.sub(r"  \S+(:\d+|\.so\.\d)$", "", t, flags=re.M) for t in (got.out, want.out))
        check(got == out, f"{got}\nnot\n{out}")
    check("program" in want.out, want.out)


def check_parts(folder, bundle, path):
    """The member of @path is an ELF file of the same layout, without debug information. All else is
    as in the file, or zero."""
    listed, part = member(bundle, path)
    with open(path, "rb") as f:
        whole = f.read()
    check(listed["partial"] is True and len(part) == len(whole), listed)
    kept = os.path.join(folder, "kept")
    with open(kept, "wb") as f:
        f.write(part)
    sections, names = (Run(["readelf", "-SW", p]).expect(0) for p in (kept, path))
    check(not sections.err, sections.err)
    for got, want in zip(sections.out.splitlines(), names.out.splitlines()):
        debug = ".debug_" in want
        check(got == want.replace("PROGBITS", "NOBITS  ") if debug else got == want, f"{got}\nnot\n{want}")
    for option in ("-sW", "-nW"):
        got, want = (Run(["readelf", option, p]).expect(0).out for p in (kept, path))
        check(got.replace(kept, path) == want, f"readelf {option}: {got}\nnot\n{want}")
    page, pages = 4096, 0
    table = int.from_bytes(part[40:48], "little")
    for at in range(0, len(whole), page):
        got, want = part[at : at + page], whole[at : at + page]
        pages += not any(got) and any(want)
        check(at + page > table or all(g in (0, w) for g, w in zip(got, want)), f"other bytes at {at:#x}")
    return pages


@case
def forms(folder):
    """Each command reads a bundle; it can be archived again, and converted back."""
    path, out = compiled(folder, "small")
    recorded(path, out)
    bundle = archive(out)
    for command in (["info"], ["dump"], ["dump", "--verify"], ["report"], ["decode"]):
        got, want = (Run([PTCAP, *command, "-i", p]).expect(0) for p in (bundle, out))
        got_out = re.sub(r"^bundle .*\n", "", got.out.replace(bundle, out), flags=re.M)
        check(got_out == want.out, f"{command}: another output\n{got.err}")
    line = re.search(r"^bundle .*", Run([PTCAP, "info", bundle]).expect(0).out, re.M)[0]
    size = os.path.getsize(path)
    check(line == f"bundle    1 file, {size} bytes: 1 program file", line)
    listed = json.loads(Run([PTCAP, "info", "--format", "json", bundle]).expect(0).out)["bundle"]["members"]
    wanted = [{"path": None, "build_id": None, "partial": False, **m} for m in manifest(bundle)["members"]]
    check(listed == wanted, f"{listed}\nnot\n{wanted}")
    check(json.loads(Run([PTCAP, "info", "--format", "json", out]).expect(0).out)["bundle"] is None, "a bundle")
    for command in ("convert", "recover"):
        back = os.path.join(folder, command)
        Run([PTCAP, command, "-i", bundle, "-o", back]).expect(0)
        same(views(back), views(out))
    give_way(path)
    again = archive(bundle)
    with open(again, "rb") as a, open(bundle, "rb") as b:
        check(a.read() == b.read(), "the bundle of a bundle differs")
    with open(again, "rb") as a:
        first = a.read()
    Run([PTCAP, "archive", "-i", bundle, "-o", again]).expect(0)
    with open(again, "rb") as a:
        check(a.read() == first, "two bundles of the same files differ")
    for wrong in (["-o", "-"], ["-o", bundle], [], ["-o", "x", "--level", "20"]):
        Run([PTCAP, "archive", "-i", bundle, *wrong]).expect(2)


@case
def folders(folder):
    """A recording that is a folder, with the kernel's code and names."""
    path, out = compiled(folder, "small")
    recorded(path, out)
    whole = os.path.join(folder, "folder")
    kernel = os.path.join(whole, "kcore_dir")
    os.makedirs(kernel)
    shutil.copy(out, os.path.join(whole, "data"))
    shutil.copy(path, os.path.join(kernel, "kcore"))  # no trace of the kernel: never decoded
    for name in ("kallsyms", "modules"):
        with open(os.path.join(kernel, name), "w", encoding="ascii") as f:
            f.write(f"{name} of the kernel\n")
    want, bundle = views(whole), archive(whole)
    same(want, views(out))
    names = {f"perf.data/{n}": n for n in ("data", "kcore_dir/kcore", "kcore_dir/kallsyms", "kcore_dir/modules")}
    with tarfile.open(fileobj=io.BytesIO(unpacked(bundle))) as t:
        for name, of in names.items():
            with open(os.path.join(whole, of), "rb") as f:
                check(t.extractfile(name).read() == f.read(), name)
    give_way(path)
    same(views(bundle), want)
    with open(bundle, "rb") as a, open(archive(bundle), "rb") as b:
        check(a.read() == b.read(), "the bundle of a bundle differs")
    back = os.path.join(folder, "back")
    Run([PTCAP, "convert", "-i", bundle, "-o", back]).expect(0)
    # What is no ELF file is no kernel's code.
    with open(os.path.join(kernel, "kcore"), "wb") as f:
        f.write(b"password")
    r = Run([PTCAP, "archive", "-i", whole, "-o", bundle]).expect(0)
    check("kcore': it is no ELF file" in r.err, r.err)


@case
def perf_reads(folder):
    """perf reads an unpacked bundle by --buildid-dir."""
    if not lib.have_perf():
        lib.skip_without("perf")
    path, out = compiled(folder, "small")
    recorded(path, out)
    env = {**os.environ, "HOME": folder, "DEBUGINFOD_URLS": ""}
    script = ["script", "-i", out, "--itrace=b", "-F", "ip,sym,symoff,addr"]
    want = Run([lib.PERF, "--buildid-dir", "/nowhere", *script], env=env).expect(0)
    check("triple" in want.out, want.err)
    folders = {}
    for options in ((), ("--reached",)):
        bundle, inner = archive(out, *options), os.path.join(folder, "inner" + "".join(options))
        folders[options] = inner
        os.mkdir(inner)
        # tar(1) needs the program zstd for `tar xf BUNDLE`.
        with open(os.path.join(folder, "tar"), "wb") as f:
            f.write(unpacked(bundle))
        Run(["tar", "xf", os.path.join(folder, "tar")], cwd=inner).expect(0)
    give_way(path)
    for options, inner in folders.items():
        script[2] = os.path.join(inner, "perf.data")
        got = Run([lib.PERF, "--buildid-dir", inner, *script], env=env).expect(0)
        check(got.out == want.out, f"perf prints other branches {options}")
    wrong = Run([lib.PERF, "--buildid-dir", "/nowhere", *script], env=env)
    check(wrong.out != want.out, "perf found the file elsewhere")


def tree(folder):
    """Return all names below the folder, with the sizes of files."""
    ret = {}
    for where, _, files in os.walk(folder):
        ret[where] = None
        ret.update({os.path.join(where, f): os.lstat(os.path.join(where, f)).st_size for f in files})
    return ret


def changed(data, rng):
    """Return the bytes with a change: of a byte, of many, cut, a part twice, a part gone, zeros."""
    data, at = bytearray(data), rng.randrange(len(data))
    n = rng.randrange(1, 600)
    what = rng.randrange(6)
    if what == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif what == 1:
        data[at : at + n] = rng.randbytes(n)
    elif what == 2:
        del data[at:]
    elif what == 3:
        data[at:at] = data[at : at + n]
    elif what == 4:
        del data[at : at + n]
    else:
        data[at : at + n] = bytes(n)
    return data


@case
def damaged(folder):
    """500 damaged bundles: no crash, nothing is written, and no other output than that of the whole
    bundle."""
    path, out = compiled(folder, "small")
    recorded(path, out)
    bundle, bad, work = archive(out), os.path.join(folder, "bad"), os.path.join(folder, "work")
    give_way(path)
    want = Run([PTCAP, *VIEWS[0], "-i", bundle]).expect(0).out
    with open(bundle, "rb") as f:
        whole = f.read()
    inner, rng, accepted = unpacked(bundle), random.Random(4), 0
    os.mkdir(work)
    open(bad, "wb").close()
    env = {**os.environ, "TMPDIR": work, "HOME": work}
    changes = "125" if store.READS else "500"  # a sanitizer is slow
    for i in range(int(os.environ.get("PTCAP_DAMAGE_CHANGES", changes))):
        if i % 2:
            packed(changed(inner, rng), bad)
        else:
            with open(bad, "wb") as f:
                f.write(changed(whole, rng))
        before = {**tree(folder)}
        command = VIEWS[0] if i % 3 else ["info"]
        r = Run([PTCAP, *command, "-i", bad], env=env, cwd=work)
        check(0 <= r.status <= 4, f"change {i}: exit status {r.status}\n{r.err}")
        check(tree(folder) == before, f"change {i}: other files")
        if r.status == 0 and command is VIEWS[0]:
            check(r.out == want, f"change {i}: another output")
            accepted += 1
        else:
            check(r.err.startswith("ptcap: ") or command == ["info"], f"change {i}: {r.err}")
    print(f"{accepted} changes had no effect")


@case
def hostile(folder):
    """Members that lead out of a folder, links, devices, duplicates: nothing is written."""
    path, out = compiled(folder, "small")
    recorded(path, out)
    bundle, bad = archive(out), os.path.join(folder, "bad")
    with tarfile.open(fileobj=io.BytesIO(unpacked(bundle))) as t:
        whole = [(m, t.extractfile(m).read()) for m in t.getmembers()]

    def refused(change, why):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as t:
            for i, (m, data) in enumerate(whole):
                info = tarfile.TarInfo(m.name)
                info.size = m.size
                for again in change(i, info) or (info,):
                    t.addfile(again, io.BytesIO(data))
        packed(made.getvalue(), bad)
        before = tree(folder)
        r = Run([PTCAP, "decode", "-i", bad])
        check(r.status == 1 and not r.out and why in r.err, f"{r.status}, not '{why}': {r.err}")
        check(tree(folder) == before, "other files")

    def last(**what):
        def change(i, info):
            for key, value in what.items() if i == len(whole) - 1 else ():
                setattr(info, key, value)
        return change

    refused(last(name="../escaped"), "it has the member '../escaped'")
    refused(last(name=folder + "/escaped"), "where the manifest lists")
    refused(last(pax_headers={"path": folder + "/escaped"}), "where the manifest lists")
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
        refused(last(type=kind, linkname="/etc/passwd", size=0), "is no regular file")
    refused(lambda i, info: (info, info) if i == 1 else None, "where the manifest lists")
    refused(lambda i, info: (info, info) if i == len(whole) - 1 else None, "which the manifest does not list")
    refused(last(size=0), "has 0 bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
