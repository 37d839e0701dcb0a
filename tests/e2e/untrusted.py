#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""untrusted.py NAME: names from outside: of files that programs map, that recordings name, that
outputs get.

Each function below is a case; its name and text state the behaviour. An open of a FIFO, a device
or a socket is a failure. inotify detects it during a recording, strace during reading.
"""

import ctypes
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys

import lib
import store
from lib import PTCAP, Run, check, prog

CASES = {}
PRECIOUS = b"the only copy\n"


def case(f):
    CASES[f.__name__] = f
    return f


# --- output through a symbolic link ---------------------------------------------------------------


def link_is_replaced(folder, name, make, is_ours):
    """make(OUTPUT) writes through a link twice. The link becomes OUTPUT.old, the file behind it stays."""
    precious, out = os.path.join(folder, name + ".precious"), os.path.join(folder, name)
    with open(precious, "wb") as f:
        f.write(PRECIOUS)
    os.symlink(precious, out)
    for n in (1, 2):
        make(out)
        with open(precious, "rb") as f:
            check(f.read() == PRECIOUS, f"{name}: the file behind the link was written to")
        check(sorted(p for p in os.listdir(folder) if p.startswith(name + ".precious")) == [name + ".precious"],
              f"{name}: {os.listdir(folder)}")
        check(not os.path.islink(out), f"{name}: the output is still a link")
        with open(out, "rb") as f:
            check(is_ours(f.read()), f"{name}: the output is not what was asked for")
        check(os.path.islink(out + ".old") == (n == 1), f"{name}: not renamed to .old")


def is_recording(data):
    return data.startswith(lib.MAGIC)


@case
def output_link(folder):
    """Each command that writes a file renames the link, as perf does."""
    recording = os.path.join(folder, "recording")
    store.fetch(recording, [prog("hello")]).expect(0)
    truth = os.path.join(folder, "t")
    commands = {
        "record": lambda out: lib.record(out, [prog("hello")]).expect(0),
        "truth": lambda out: lib.record(truth, [prog("hello")], "--truth", out).expect(0),
        "convert": lambda out: Run([PTCAP, "convert", "-i", recording, "-o", out]).expect(0),
        "recover": lambda out: Run([PTCAP, "recover", "-i", recording, "-o", out]).expect(0),
        "snapshot": lambda out: Run([PTCAP, "snapshot", "--source", lib.SOURCE, "--count", "1", "-o", out, "--", prog("hello")]).expect(0),
        "crash": lambda out: Run([PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", out, "--", prog("crash_static"), "null"]).expect(139),
    }
    for name, make in commands.items():
        link_is_replaced(folder, name, make, (lambda data: data and not is_recording(data)) if name == "truth" else is_recording)


@case
def output_special(folder):
    """A link to a FIFO or a device is not moved away: it is refused before the command runs."""
    fifo, recording = os.path.join(folder, "fifo"), os.path.join(folder, "recording")
    store.fetch(recording, [prog("hello")]).expect(0)
    os.mkfifo(fifo)
    for target in (fifo, "/dev/null"):
        link = os.path.join(folder, "link")
        os.symlink(target, link)
        r = lib.record(link, [prog("hello")]).expect(2)
        check(r.out == "" and "not a regular file" in r.err, r.err)
        Run([PTCAP, "convert", "-i", recording, "-o", link]).expect(2)
        Run([PTCAP, "recover", "-i", recording, "-o", link]).expect(2)
        check(os.readlink(link) == target and not os.path.lexists(link + ".old"), "the link was moved")
        os.unlink(link)


# --- programs that replace a file that they have mapped
# -----------------------------------------------

IN_OPEN, IN_CREATE, IN_NONBLOCK, IN_CLOEXEC = 0x20, 0x100, 0o4000, 0o2000000


class Watch:
    """Watch which files are opened in a folder from now on. An open with O_PATH does not count."""

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(IN_NONBLOCK | IN_CLOEXEC)
        check(libc.inotify_add_watch(self.fd, folder.encode(), IN_OPEN | IN_CREATE) >= 0, os.strerror(ctypes.get_errno()))

    def events(self):
        """Return and clear [(created, name)]; not created: opened."""
        ret = []
        while True:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return ret
            while data:
                _, mask, _, n = struct.unpack_from("<iIII", data)
                ret.append((bool(mask & IN_CREATE), data[16 : 16 + n].rstrip(b"\0").decode()))
                data = data[16 + n :]

    def fifo_is_not_opened(self, *names):
        """Each FIFO has been created, and not opened since."""
        events = self.events()
        for name in names:
            made = max((i for i, e in enumerate(events) if e == (True, name)), default=None)
            check(made is not None, f"'{name}' was not made: {events}")
            check((False, name) not in events[made:], f"'{name}' was opened: {events}")


def special(*args):
    return [prog("special"), *args]


def ends(argv, **kw):
    """The command ends by itself."""
    try:
        return Run(argv, timeout=lib.DEADLINE / 4, **kw)
    except subprocess.TimeoutExpired as e:
        raise lib.Failure(f"it hangs: {argv}") from e


READERS = (["decode"], ["decode", "-F", "tid,from,to,kind,sym,srcline"], ["info"], ["dump"], ["dump", "--verify"], ["crash", "show"])


@case
def swapped(folder):
    """A file is mapped, and a FIFO takes its name: each command ends, and does not open the FIFO."""
    watch = Watch(folder)
    for command, argv in (
        ("record", ["record", "-o"]), ("crash", ["crash", "-o"]), ("snapshot", ["snapshot", "--count", "1", "-o"]),
    ):
        out, name = os.path.join(folder, command), command + ".mapped"
        target = special("swap", os.path.join(folder, name))
        ends([PTCAP, argv[0], "--source", lib.SOURCE, *argv[1:], out, "--", *target])
        watch.fifo_is_not_opened(name, name + " (deleted)")
        for reader in READERS:
            if os.path.exists(out):
                ends([PTCAP, *reader, "-i", out])
        check((False, name) not in watch.events(), f"{command}: the FIFO was opened when the recording was read")
        check(command != "record" or os.path.exists(out), "there is no recording")


def says(path, *words):
    with open(path, "rb") as f:
        text = f.read()
    return any(word in text for word in words)


@case
def swapped_running(folder):
    """The same for a program that runs already."""
    watch, name, out = Watch(folder), "mapped", os.path.join(folder, "out")
    commands = [["record", "--source", "step"], ["crash", "--source", "step"], ["snapshot", "--source", "step", "--count", "1"]]
    if lib.has_events():
        commands.append(["record", "-e", "dummy"])
    for command in commands:
        for path in (name, name + " (deleted)"):
            if os.path.lexists(os.path.join(folder, path)):
                os.unlink(os.path.join(folder, path))
        with subprocess.Popen(special("stay", os.path.join(folder, name)), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
            check(target.stdout.readline() == b"ready\n", "it is not ready")
            argv = [PTCAP, *command, "-o", out, "-p", str(target.pid)]
            errors = os.path.join(folder, "stderr")
            with open(errors, "wb") as err, subprocess.Popen(argv, stderr=err) as p:
                lib.until(lambda p=p: p.poll() is not None or says(errors, b"attached", b"waiting;"), "it records")
                target.stdin.close()
                try:
                    p.wait(timeout=lib.DEADLINE / 4)
                except subprocess.TimeoutExpired as e:
                    p.kill()
                    raise lib.Failure(f"it hangs: {argv}") from e
        watch.fifo_is_not_opened(name, name + " (deleted)")


# --- recordings that name special files
# ---------------------------------------------------------------

FINE = {"/dev/null", "/dev/tty"}  # a command opens these by itself
OPEN = re.compile(r'open(?:at2?)?\((.*)')


def is_special(path):
    try:
        return path not in FINE and not (stat.S_ISREG(os.stat(path).st_mode) or stat.S_ISDIR(os.stat(path).st_mode))
    except OSError:
        return False


def traced(folder, argv, want=(), env=None, status=None):
    """Run it under strace: it opens special files only with O_PATH, and each path in @want in this
    way."""
    log = os.path.join(folder, "strace.log")
    asan = os.environ.get("ASAN_OPTIONS", "")  # LeakSanitizer does not work under strace
    env = {**os.environ, "HOME": folder, "PERF_BUILDID_DIR": "/nowhere", "DEBUGINFOD_URLS": "", **(env or {}),
           "ASAN_OPTIONS": f"{asan}:detect_leaks=0".lstrip(":")}
    r = ends(["strace", "-f", "-y", "-qq", "-s", "4096", "-e", "trace=open,openat,openat2", "-o", log, *argv], env=env)
    check(status is None or r.status == status, f"{argv}: exit status {r.status}\n{r.err}")
    looked = set()
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = OPEN.search(line)
            if not m:
                continue
            names = re.findall(r'"((?:[^"\\]|\\.)*)"', m[1]) + re.findall(r"= \d+<(/[^>]*?)(?: \(deleted\))?(?:<char [^>]*>)?>", line)
            found = re.findall(r"= \d+<(/[^<>]*)", line)
            if "O_PATH" in line:
                looked.update(found)
            for name in names if "O_PATH" not in line else ():
                check(not is_special(name), f"{' '.join(argv)}: opened:\n{line}")
    for path in want:
        check(path in looked, f"{' '.join(argv)}: not even looked at: {path}\n{r.err}")
    r.looked = looked
    return r


def special_files(folder):
    """Return {path: kind}. All of these are special files, or links to them."""
    fifo, sock = os.path.join(folder, "a_fifo"), os.path.join(folder, "a_socket")
    device, to_fifo = os.path.join(folder, "a_device"), os.path.join(folder, "to_fifo")
    jit, null = os.path.join(folder, "jit-1.dump"), os.path.join(folder, "to_random")
    ret = {fifo: "fifo", sock: "socket", device: "/dev/full", to_fifo: "a_fifo", jit: "fifo", null: "/dev/random"}
    return ret


def make_special(path, what):
    if what == "fifo":
        os.mkfifo(path)
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
    else:
        os.symlink(what, path)


def need_strace():
    if not shutil.which("strace") or Run(["strace", "-qq", "-o", "/dev/null", "true"]).status:
        lib.skip("strace does not work here")


@case
def named(folder):
    """A recording names FIFOs, sockets, devices and links to them: no command opens one."""
    need_strace()
    files = special_files(folder)
    for path in files:
        shutil.copy(prog("exit"), path)
    recordings = {}
    for mode, command in (("map", "record"), ("die", "crash")):
        recordings[command] = os.path.join(folder, command)
        Run([PTCAP, command, "-q", "--source", lib.SOURCE, "-o", recordings[command], "--", *special(mode, *files)])
        check(os.path.exists(recordings[command]), f"no recording: {command}")
    home = os.path.join(folder, ".perfconfig")
    for path, what in {**files, home: "fifo"}.items():
        if os.path.exists(path):
            os.unlink(path)
        make_special(path, what)
    # A link leads to the checked file.
    want = [os.path.join(folder, "a_fifo"), os.path.join(folder, "a_socket"), "/dev/full", "/dev/random", os.path.join(folder, "jit-1.dump")]
    for path in recordings.values():
        for reader in (["decode"], ["decode", "--stats"], ["decode", "-F", "tid,from,to,kind,sym,srcline"], ["info"]):
            traced(folder, [PTCAP, *reader, "-i", path], want, {"PERF_BUILDID_DIR": ""})
        for reader in (["dump"], ["dump", "--verify"], ["crash", "show"]):
            traced(folder, [PTCAP, *reader, "-i", path])
        traced(folder, [PTCAP, "convert", "-i", path, "-o", os.path.join(folder, "converted")])
        traced(folder, [PTCAP, "recover", "-i", path, "-o", os.path.join(folder, "recovered")])
    traced(folder, [PTCAP, "crash", "show", "-i", recordings["crash"]], want[:4])
    said = Run([PTCAP, "info", "-i", recordings["record"]]).out
    check(re.search(r"a_fifo build-id .*: the name is that of a FIFO, a device or the like now", said), said)


@case
def below_symfs(folder):
    """--symfs is a root: links and names do not leave it, and FIFOs below it are not opened."""
    need_strace()
    path, root = os.path.join(folder, "perf.data"), os.path.join(folder, "root")
    library = os.path.join(folder, "mapped")
    shutil.copy(prog("exit"), library)
    Run([PTCAP, "record", "-q", "--source", lib.SOURCE, "-o", path, "--", *special("map", library)]).expect(0)
    pid = lib.decode(path, "-F", "pid").out.split()[0]
    os.makedirs(os.path.join(root, "tmp"))
    os.makedirs(os.path.join(root, os.path.dirname(library).lstrip("/")))
    inside = os.path.join(root, library.lstrip("/"))
    names = os.path.join(root, "tmp", f"perf-{pid}.map")
    fifo = os.path.join(folder, "outside")
    os.mkfifo(fifo)
    for what in ("fifo", fifo, "../" * 20 + fifo.lstrip("/")):
        make_special(inside, what)
        make_special(names, what)
        argv = [PTCAP, "decode", "-F", "from,sym", "-i", path, "--symfs", root]
        traced(folder, argv, [inside] if what == "fifo" else [])
        os.unlink(inside)
        os.unlink(names)
    # A link to a file elsewhere resolves below the root.
    os.unlink(library)
    os.rename(os.path.join(folder, "outside"), os.path.join(folder, "fifo"))
    other = os.path.join(folder, "other")
    shutil.copy(prog("exit"), other)
    os.symlink(other, inside)
    argv = [PTCAP, "decode", "--stats", "-i", path, "--symfs", root]
    check(other not in traced(folder, argv).looked, "a link led out of the root")
    below = os.path.join(root, other.lstrip("/"))
    shutil.copy(prog("exit"), below)
    check(below in traced(folder, argv).looked, "a link below the root is not followed")


SMALL = """
static int plus(int x)
{
	return x + 1;
}
void _start(void)
{
	volatile int i;

	for (i = 0; i < 10;)
		i = plus(i);
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
"""


# Enough types for dwz to share.
THINGS = "".join(
    f"struct thing{i} {{ struct thing{i} *next_of_{i}; int first_of_{i}; long last_of_{i}[{i + 1}]; }};\nstruct thing{i} variable{i};\n"
    for i in range(60)
)


def small(folder, name, *options, before=""):
    """Record a program without a libc. Returns (program, recording)."""
    if not shutil.which("gcc") or not shutil.which("objcopy"):
        lib.skip("no gcc, or no objcopy here")
    code, path, out = (os.path.join(folder, name + end) for end in (".c", "", ".data"))
    with open(code, "w", encoding="ascii") as f:
        f.write(before + SMALL)
    Run(["gcc", "-g", "-O0", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", *options, "-o", path, code],
        cwd=folder).expect(0)
    Run([PTCAP, "record", "-q", "--source", lib.SOURCE, "-o", out, "--", path]).expect(0)
    return path, out


def lines(folder, out, want=(), env=None):
    return traced(folder, [PTCAP, "decode", "-F", "from,sym,srcline", "-i", out], want, env)


@case
def debug_files(folder):
    """References in debug information: .gnu_debuglink, .gnu_debugaltlink, split DWARF, build-ids.
    Libdw opens none of these files."""
    need_strace()
    fifo = os.path.join(folder, "is_fifo")
    os.mkfifo(fifo)
    # An alternate file (dwz): its name, and a build-id.
    path, out = small(folder, "alternate")
    link = os.path.join(folder, "link")
    for name in (fifo, os.path.basename(fifo), "/dev/full"):
        with open(link, "wb") as f:
            f.write(name.encode() + b"\0" + b"\x11" * 20)
        Run(["objcopy", "--remove-section", ".gnu_debugaltlink", path]).expect(0)
        Run(["objcopy", "--add-section", f".gnu_debugaltlink={link}", path]).expect(0)
        want = os.path.join(folder, name)
        r = lines(folder, out, [want])
        check("alternate.c:" in r.out, f"no lines\n{r.out}{r.err}")
    # Debug information in another file: with that name, and any CRC.
    path, out = small(folder, "linked", "-Wl,--build-id=none")
    with open(link, "wb") as f:
        f.write(b"is_fifo\0" + b"\x22" * 4)
    Run(["objcopy", "--strip-debug", "--strip-all", "--add-section", f".gnu_debuglink={link}", path]).expect(0)
    Run([PTCAP, "record", "-q", "--source", lib.SOURCE, "-o", out, "--", path]).expect(0)
    lines(folder, out, [fifo])
    # By build-id, in perf's cache.
    path, out = small(folder, "cached", "-Wl,--build-id=0x1234567890")
    Run(["objcopy", "--strip-debug", "--strip-all", path]).expect(0)
    Run([PTCAP, "record", "-q", "--source", lib.SOURCE, "-o", out, "--", path]).expect(0)
    cache = os.path.join(folder, "cache", ".build-id", "12", "34567890")
    os.makedirs(cache)
    for name in ("debug", "elf", "vdso"):
        os.mkfifo(os.path.join(cache, name))
    lines(folder, out, [os.path.join(cache, "debug")], {"PERF_BUILDID_DIR": os.path.join(folder, "cache")})
    os.rename(path, path + ".away")
    lines(folder, out, [os.path.join(cache, "elf")], {"PERF_BUILDID_DIR": os.path.join(folder, "cache")})
    # Split DWARF: the unit refers to a .dwo file.
    for dwarf in ("4", "5"):
        path, out = small(folder, "split" + dwarf, "-gsplit-dwarf", "-gdwarf-" + dwarf)
        dwo = [os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".dwo")]
        check(dwo, "no .dwo file was made")
        for name in dwo:
            os.unlink(name)
            os.mkfifo(name)
        r = lines(folder, out)
        check(f"split{dwarf}.c:" in r.out, f"no lines\n{r.out}{r.err}")
        for name in dwo:
            os.unlink(name)


@case
def alternate(folder):
    """An alternate file (dwz) is found by its name, and not opened if a FIFO has this name."""
    need_strace()
    if not shutil.which("dwz"):
        lib.skip("no dwz here")
    made = [small(folder, name, "-gdwarf-4", before=THINGS) for name in ("one", "two")]
    out = made[0][1]
    want = lines(folder, out).out
    check("one.c:" in want, want)
    for name in (os.path.join(folder, "common"), "common"):
        paths = [path for path, _ in made]
        for path in paths:
            shutil.copy(path, path + ".kept")
        Run(["dwz", "-m", "common", "-M", name, *paths], cwd=folder).expect(0)
        common = os.path.join(folder, "common")
        got = lines(folder, out, [common])
        check(got.out == want, f"other lines with {name}\n{got.out}{got.err}")
        os.unlink(common)
        os.mkfifo(common)
        lines(folder, out, [common])
        os.unlink(common)
        for path in paths:
            os.replace(path + ".kept", path)


@case
def others_jitdump(folder):
    """A jitdump and a perf-PID.map have code and names: those of another user are not trusted, and
    the message has a remedy."""
    if os.geteuid():
        lib.skip("only root can give a file away")
    path, root = os.path.join(folder, "perf.data"), os.path.join(folder, "root")
    dump = os.path.join(folder, "jit-7.dump")
    shutil.copy(prog("exit"), dump)
    Run([PTCAP, "record", "-q", "--source", lib.SOURCE, "-o", path, "--", *special("map", dump)]).expect(0)
    os.chown(dump, 65534, 65534)
    err = lib.decode(path).err
    check("belongs to user 65534, not to root" in err and "--symfs" in err, err)
    copied = os.path.join(root, dump.lstrip("/"))
    os.makedirs(os.path.dirname(copied))
    shutil.copy(dump, copied)
    err = lib.decode(path, "--symfs", root).err
    check("belongs to" not in err and "it is no jitdump" in err, err)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
