#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor.py NAME: each line of `ptcap doctor` against an independent reading of the same user (doctor_reader.py).

Both programs run with the same prefix: as root, as a user, with a capability, in a user namespace, with small limits, under
a seccomp filter.
"""

import atexit
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import lib
from lib import PTCAP, Run, check, skip

CASES = {}
REFUSE = lib.need("REFUSE")
READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "doctor_reader.py")
USER = 20000 + os.getpid() % 40000  # of no other test: the kernel counts the rings of a user
PTRACE, EPERM = 101, 1
# LeakSanitizer needs ptrace, and does not run where a case forbids it.
NO_LEAKS = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
PT = "/sys/bus/event_source/devices/intel_pt/type"
USEFUL = {"perfmon": 38, "sys_admin": 21, "sys_ptrace": 19, "ipc_lock": 14, "sys_nice": 23, "sys_rawio": 17}


def case(f):
    CASES[f.__name__] = f
    return f


def as_user(*caps):
    """A command prefix that gives up root, except for capabilities."""
    if os.geteuid():
        skip("not root")
    if not shutil.which("setpriv"):
        lib.skip_without("setpriv")
    kept = ["--inh-caps", ",".join("+" + c for c in caps), "--ambient-caps", ",".join("+" + c for c in caps)] if caps else []
    prefix = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *kept]
    if not may_run(prefix):
        copy_for_users()
    if not may_run(prefix) or not python_for(prefix):
        lib.skip_without("Python or readable folder for a user without rights")
    return prefix


def may_run(prefix):
    """Whether the user may run ptcap and read the script. A folder of root may hold both."""
    return Run([*prefix, "test", "-x", PTCAP, "-a", "-r", READER]).status == 0


def copy_for_users():
    """Use copies of ptcap, its plugin and the script in a folder that each user may enter."""
    global PTCAP, READER
    place = tempfile.mkdtemp(prefix="ptcap-e2e-users-")
    atexit.register(shutil.rmtree, place)
    os.chmod(place, 0o755)
    beside = os.path.join(os.path.dirname(PTCAP), "ptcap-emu.so")
    PTCAP, READER, *_ = [shutil.copy(f, place) for f in (PTCAP, READER, beside) if os.path.exists(f)]
    for name in os.listdir(place):
        os.chmod(os.path.join(place, name), 0o755)


def python_for(prefix):
    """A Python that the user may execute."""
    return next((p for p in (sys.executable, "/usr/bin/python3") if not Run([*prefix, "test", "-x", p]).status), None)


class Doctor:
    def __init__(self, prefix=(), options=("--quick",), **kw):
        r = Run([*prefix, PTCAP, "doctor", "--format", "json", *options], **kw)
        self.json = json.loads(r.out)
        check(r.err == "", r.err)
        self.verdict = self.json["verdict"]
        want = {"hardware": 0, "software": 3, "nothing": 1}[self.verdict]
        check(r.status == want, f"verdict {self.verdict}, exit status {r.status}")
        self.checks = {c["name"]: c for c in self.json["checks"]}
        self.commands = {c["command"]: c for c in self.json["commands"]}
        check(len(self.checks) == len(self.json["checks"]), "two checks have the same name")
        for c in [*self.json["checks"], *self.json["commands"]]:
            check(c["state"] in ("ok", "note", "missing", "broken", "unknown") and c["value"], f"{c}")

    def has(self, name, state, words="", mend=None):
        c = self.checks.get(name) or self.commands[name]
        check(c["state"] == state, f"{name} is not {state}: {c}")
        check(re.search(words, c["value"]), f"{name}: {words!r} is not in {c}")
        check(mend is None or re.search(mend, c["mend"] or "") and (mend or not c["mend"]), f"{name}: {mend!r} does not mend {c}")


def the_machine(d):
    """Lines that depend on no user."""
    with open("/proc/cpuinfo", encoding="ascii") as f:
        info = f.read()
    flags = re.search(r"^flags\s*:(.*)", info, re.M)[1].split()
    name = re.search(r"^model name\s*:\s*(.*?)\s*$", info, re.M)[1]
    d.has("processor", "ok" if "intel_pt" in flags else "missing", re.escape(name))
    d.has("virtual machine", *(("note", "virtual machine") if "hypervisor" in flags else ("ok", "no virtual machine")))
    docker = [p for p in ("/.dockerenv", "/run/.containerenv", "/run/systemd/container") if os.path.exists(p)]
    check(not docker or d.checks["container"]["state"] == "note", f"{docker}: {d.checks['container']}")
    check("kernel" in d.checks and os.uname().release in d.checks["kernel"]["value"], d.checks["kernel"])
    pmu = os.path.exists(PT)
    d.has("intel_pt", "ok" if pmu else "broken" if "intel_pt" in flags else "missing")
    d.has("intel_pt caps", "ok" if pmu else "missing")
    if not pmu:
        check(d.verdict != "hardware", d.verdict)
        d.has("record -a", "missing", "Intel PT")


def the_rights(d, r):
    level = {"": "everything", "cpu": "their kernel part", "kernel_part": "user mode", "event": "nothing"}
    first = next((what for what in ("event", "kernel_part", "cpu") if r[what]), "")
    state = "broken" if r["event"] == "EACCES" else "note" if "EACCES" in (r["kernel_part"], r["cpu"]) else "ok"
    mend = {"broken": "perf_event_paranoid=2", "note": "perf_event_paranoid=0", "ok": ""}[state]
    d.has("perf_event_paranoid", state, rf"^{r['paranoid']}: this user may trace .*{level[first]}", mend)
    d.has("perf events", "broken" if r["event"] else "ok")
    if r["attr_size"]:
        d.has("kernel", d.checks["kernel"]["state"], f"perf_event_attr of {r['attr_size']} bytes")
    names = {n for n, bit in USEFUL.items() if r["caps"] >> bit & 1}
    found = re.match(rf"user {r['uid']} has ([a-z_, ]*?)(?:; lacks .*|, in its own user namespace.*)?$",
                     d.checks["capabilities"]["value"])  # fmt: skip
    check(found and {n for n in found[1].split(", ") if n != "none"} == names, f"{names}: {d.checks['capabilities']}")
    check(("user namespace" in d.checks["container"]["value"]) == r["userns"], d.checks["container"])
    if r["yama"] is None:
        d.has("yama", "ok", "no yama")
    else:
        d.has("yama", d.checks["yama"]["state"], f"ptrace_scope is {r['yama']}")
    d.has("ptrace", "broken" if r["ptrace"] else "ok")
    d.has("seccomp", "broken" if r["seccomp"] and "EPERM" in (r["event"], r["ptrace"]) else "ok")


def the_limits(d, r, read):
    """The rings that doctor names fit the kernel's limits. Other processes of the user may have rings at the moment."""
    d.has("descriptors", d.checks["descriptors"]["state"], f"at most {r['files']}: each attached thread needs {2 * r['cpus']}")
    if r["event"]:
        return
    sizes, page = d.json["largest_rings"], os.sysconf("SC_PAGE_SIZE")
    used = (sizes["data"] + sizes["aux"] + page) * r["cpus"]
    if r["ring_bytes"] < 0:
        return
    lib.until(lambda: used <= read()["ring_bytes"], f"{sizes} fit {r['cpus']} CPUs: the kernel allowed {r['ring_bytes']} bytes")
    for data, aux in ((2 * sizes["data"], sizes["aux"]), (sizes["data"], 2 * sizes["aux"])):
        more = (data + aux + page) * r["cpus"]
        check(more > r["ring_bytes"] or aux > 16 * data, f"{sizes}: {data},{aux} is possible too: {r['ring_bytes']} bytes")


def compared(prefix=(), **kw):
    """Compare all lines with the reading of the same user. Returns both."""

    def read():
        return json.loads(Run([*prefix, python_for(prefix), "-S", READER]).expect(0).out)

    reading = read()
    d = Doctor(prefix, **kw)
    the_machine(d)
    the_rights(d, reading)
    the_limits(d, reading, read)
    return d, reading


@case
def here(folder):
    """The user of the tests, and what ptcap then does: the source of a command is the one that doctor names."""
    d, _ = compared()
    for command, argv in (("record -- CMD", ["--"]), ("record -a", ["-a", "--"])):
        r = Run([PTCAP, "record", "-o", os.path.join(folder, "f"), *argv, "/bin/true"])
        check((r.status == 0) == (d.commands[command]["state"] != "missing"), f"{command}: {d.commands[command]}, {r.err}")
        name = d.commands[command]["value"].split(":")[0]
        if r.status == 0 and name != "pt":
            check(f"source: {name}" in r.err, f"{name}: {r.err}")


@case
def user(folder):
    """A user without rights."""
    d, r = compared(as_user())
    check(r["caps"] == 0 and r["uid"] == USER, r)
    d.has("capabilities", "note", "has none", "setpriv")


@case
def mended(folder):
    """The command that mends the capabilities works, gives them to this user only, and leaves no other rights to it."""
    prefix = as_user()
    command = Doctor(prefix).checks["capabilities"]["mend"].split(", or ")[0].removeprefix("sudo ")
    os.chmod(folder, 0o777)
    program = shutil.copy(lib.prog("run"), folder)  # without the steps of a dynamic linker
    for old, new in (("$(id -u)", USER), ("$(id -g)", USER), ("--init-groups", "--clear-groups"), ("$(command -v ptcap)", PTCAP)):
        check(old in command, f"{old} is not in {command}")  # sudo runs as root, like this test; the user has no name
        command = command.replace(old, str(new))
    argv = command.removesuffix("ARGUMENTS").split()
    d = json.loads(Run([*argv, "doctor", "--quick", "--format", "json"]).out)
    said = {c["name"]: c for c in d["checks"]}
    check(said["capabilities"]["value"].startswith(f"user {USER} has perfmon, ipc_lock; lacks"), said["capabilities"])
    check(said["ptrace"]["state"] != "ok" or
          Run([*argv, "record", "--source", "step", "-o", os.path.join(folder, "f"), "--", program, "0"]).status == 0, "step is refused")
    check(Run([*prefix, PTCAP, "doctor", "--quick"]).out.count("has none"), "the user keeps the capabilities")


@case
def perfmon(folder):
    """A user with CAP_PERFMON only: all events, but no larger rings and no processes of others."""
    d, r = compared(as_user("perfmon"))
    d.has("capabilities", "note", "has perfmon; lacks sys_admin")
    if not r["event"]:
        d.has("perf_event_paranoid", "ok", "everything")


@case
def namespace(folder):
    """Root in a user namespace of its own has no rights for events."""
    prefix = [*(as_user() if not os.geteuid() else ()), "unshare", "-r"]
    if Run([*prefix, "true"]).status:
        skip("no user namespaces")
    d, r = compared(prefix)
    check(r["userns"] and r["uid"] == 0, r)
    d.has("capabilities", "note", "in its own user namespace only", "outside")


@case
def memlock(folder):
    """Small limits of locked memory: the kernel maps these rings, and no larger ones."""
    sizes = set()
    for kib in (0, 64, 1024):
        d, r = compared([*as_user(), "prlimit", f"--memlock={kib << 10}:{kib << 10}"])
        if r["event"]:
            skip("no events for users")
        check(r["ring_bytes"] >= 0, "a user without a limit")
        d.has("rings", "note", f"RLIMIT_MEMLOCK {kib} KiB", "prlimit --pid .* --memlock=unlimited")
        sizes.add(d.json["largest_rings"]["aux"])
        # The kernel also takes these sizes from `record`.
        for factor, want in ((1, True), (4, False)):
            size = d.json["largest_rings"]["aux"] * factor
            run = Run([*as_user(), "prlimit", f"--memlock={kib << 10}:{kib << 10}", PTCAP, "record", "-e", "dummy:u", "-m",
                       f"{size}B", "-o", os.path.join(folder, "none", "f"), "--", "true"])  # fmt: skip
            check(("perf_event_mlock_kb" not in run.err) == want, f"-m {size}B: {run.err}")
    check(len(sizes) > 1, f"only {sizes}")


@case
def seccomp(folder):
    """Filters that refuse perf_event_open, or ptrace: the line of the call, and of the filter."""
    d, r = compared([REFUSE, str(EPERM)])
    check(r["event"] == "EPERM" and r["seccomp"] == 2, r)
    d.has("seccomp", "broken", "refuse perf_event_open", "--cap-add PERFMON --security-opt seccomp=unconfined")
    d.has("perf events", "broken", "Operation not permitted", "PERFMON")
    d.has("crash -e dummy:u -p PID", "missing", "perf events")
    d, r = compared([REFUSE, f"{EPERM},{PTRACE}"], env=NO_LEAKS)
    check(r["ptrace"] == "EPERM", r)
    d.has("seccomp", "broken", "refuse ptrace", "--cap-add SYS_PTRACE")
    d.has("ptrace", "broken", "Operation not permitted", "SYS_PTRACE")
    d.has("stacks -p PID", "missing", "ptrace")


@case
def no_qemu(folder):
    """Without QEMU commands are single-stepped. Without ptrace, too, no source works, and ptcap agrees."""
    env = {**NO_LEAKS, "PTCAP_QEMU": "/nonexistent"}
    d = Doctor(env=env)
    d.has("qemu", "missing", r"'/nonexistent' \(PTCAP_QEMU\)$", "^unset PTCAP_QEMU")
    if os.path.exists(PT):
        skip("this machine has Intel PT")
    d.has("record -- CMD", "ok", "^step: ")
    refuse = [REFUSE, f"{EPERM},{PTRACE}"]
    d = Doctor(refuse, env=env)
    check(d.verdict == "nothing", d.verdict)
    d.has("record -- CMD", "missing")
    r = Run([*refuse, PTCAP, "record", "-o", os.path.join(folder, "f"), "--", "true"], env=env)
    check(r.status == 125, f"record works: {r.err}")
    d = Doctor(env={**os.environ, "PTCAP_QEMU": "/bin/false"})
    d.has("qemu", "broken", "cannot load the plugin", "scripts/qemu")


@case
def measured(folder):
    """Without --quick the costs are measured here, and nothing is left in any folder."""
    os.mkdir(os.path.join(folder, "tmp"))
    d = Doctor(options=(), cwd=folder, env={**os.environ, "TMPDIR": os.path.join(folder, "tmp")})
    check(re.search(r"\d MB/s measured", d.checks["disk"]["value"]), d.checks["disk"])
    rates = {s: d.json["measured"].get(f"{s}_instructions_per_second", 0) for s in ("emu", "step")}
    for source, name in (("emu", "qemu"), ("step", "ptrace")):
        check(not rates[source] or d.checks[name]["state"] == "ok", f"{rates}: {d.checks[name]}")
    check(any(rates.values()) or d.verdict == "nothing", f"nothing was measured: {d.json}")
    left = [os.path.join(w, n) for w, folders, files in os.walk(folder) for n in folders + files]
    check(left == [os.path.join(folder, "tmp")], f"left: {left}")


@case
def text(folder):
    """The text form has the lines of the JSON, one check a line, and the verdict last."""
    d = Doctor()
    lines = Run([PTCAP, "doctor", "--quick"]).out.splitlines()
    for c in [*d.json["checks"], *d.json["commands"]]:
        name = c.get("name") or c["command"]
        value = re.sub(r"\d+", r"\\d+", re.escape(c["value"]))  # free memory and disk change
        want = rf"{c['state']} +{re.escape(name)}  +{value}" + (r"; mend: " + re.escape(c["mend"]) if c["mend"] else "")
        check(sum(bool(re.fullmatch(want, l)) for l in lines) == 1, f"{name} is not one line of {lines}")
    check(lines[-1].startswith("verdict  " + d.verdict), lines[-1])
    Run([PTCAP, "doctor", "x"]).expect(2)
    Run([PTCAP, "doctor", "--format", "yaml"]).expect(2)


# --- a running process ----------------------------------------------------------------------------


class Waiting:
    """A program that waits for the end of its input."""

    def __init__(self, program="/bin/cat", prefix=(), more=()):
        self.p = subprocess.Popen([*prefix, program, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = str(self.p.pid)
        self.p.stdin.write(b"x\n")
        self.p.stdin.flush()
        check(self.p.stdout.readline() == b"x\n", "the program does not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.stdin.close()
        check(self.p.wait() == 0, f"the program was harmed: {self.p.returncode}")


def sections(path):
    return set(re.findall(r"\] (\.\S+)", Run(["readelf", "-SW", path]).out))


def debug_of(path):
    """What a file has, according to readelf: lines, names, or exported names; also in its debug file."""
    found = sections(path)
    build_id = re.search(r"Build ID: (..)(\S+)", Run(["readelf", "-n", path]).out)
    if build_id:
        separate = f"/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug"
        found |= sections(separate) if os.path.exists(separate) else set()
    if ".debug_info" in found:
        return "and source lines"
    return "names of functions, no" if found & {".symtab", ".gnu_debugdata"} else "only exported"


@case
def process(folder):
    """A process of this user: its files, and what their debug files have according to readelf."""
    if not shutil.which("readelf"):
        lib.skip_without("readelf")
    with Waiting() as w:
        d = Doctor(options=("--quick", "-p", w.pid))
        with open(f"/proc/{w.pid}/maps", encoding="ascii") as f:
            maps = {l.split()[-1] for l in f if " r-xp " in l and " /" in l}
        files = {f["file"]: f for f in d.json["process"]["files"]}
        check(set(files) == maps, f"{set(files)}, mapped are {maps}")
        for name, f in files.items():
            check(debug_of(name) in f["value"], f"{debug_of(name)}: {f}")
            check((f["state"] == "ok") == ("and source lines" in f["value"]), f)
        d.has("process", "ok", f"process {w.pid} \\(cat\\) of user {os.geteuid()}, 1 thread")
        scope = "/proc/sys/kernel/yama/ptrace_scope"
        with open(scope if os.path.exists(scope) else "/dev/null", encoding="ascii") as f:
            held = int(f.read() or 0) and os.geteuid() != 0  # the process is no child of ptcap
        d.has("process ptrace", "broken" if held or d.checks["ptrace"]["state"] == "broken" else "ok")
        d.has("process events", "broken" if d.checks["perf events"]["state"] == "broken" else "ok")
        d.has("process files", "ok", f"{len(maps)} files with code")
    Run([PTCAP, "doctor", "--quick", "-p", w.pid]).expect(1)
    for bad in ("0", "x", "1,2", "-1"):
        Run([PTCAP, "doctor", "-p", bad]).expect(2)


@case
def others(folder):
    """A user and a process of root: neither events nor ptrace, and the commands say so."""
    prefix = as_user()
    with Waiting() as w:
        d = Doctor(prefix, ("--quick", "-p", w.pid))
        d.has("process ptrace", "broken", "may not trace", "CAP_SYS_PTRACE")
        d.has("process events", "broken", "other users|Operation not permitted|Permission denied")
        d.has("process files", "unknown", "Permission denied")
        for command in ("record -p PID", "stacks -p PID", "crash -e dummy:u -p PID"):
            d.has(command, "missing")
        check(Run([*prefix, PTCAP, "stacks", "-p", w.pid]).status == 1, "stacks works")
    with Waiting(prefix=prefix) as w:
        d = Doctor(prefix, ("--quick", "-p", w.pid))
        d.has("process", "ok", f"of user {USER}")
        d.has("stacks -p PID", "ok" if Run([*prefix, PTCAP, "stacks", "-p", w.pid]).status == 0 else "missing")


@case
def traced(folder):
    """A process that a tracer has: doctor names the tracer."""
    with Waiting() as w:
        if ctypes.CDLL(None).ptrace(ctypes.c_long(0x4206), ctypes.c_long(int(w.pid)), None, None):  # PTRACE_SEIZE
            skip("no ptrace")
        d = Doctor(options=("--quick", "-p", w.pid))
        d.has("process ptrace", "broken", f"process {os.getpid()} traces it already", f"end process {os.getpid()}")
        d.has("stacks -p PID", "missing")


@case
def sandboxed(folder):
    """The files of the process are read in the sandbox, which refuses none of doctor's calls."""
    log = os.path.join(folder, "log")
    strace = ["strace", "-qq", "-o", log, "-e", "trace=seccomp,openat,openat2,execve"]
    if not shutil.which("strace"):
        lib.skip_without("strace")
    if Run([*strace, "true"]).status:
        skip("strace may not trace")
    name = shutil.copy("/bin/cat", os.path.join(folder, "copied"))
    with Waiting(name) as w:
        outs = []
        for more, filters in ((), 1), (("--no-sandbox",), 0):
            r = Run([*strace, PTCAP, "doctor", "--quick", "--format", "json", "-p", w.pid, *more])
            with open(log, encoding="ascii", errors="replace") as f:
                parts = f.read().split("seccomp(SECCOMP_SET_MODE_FILTER")
            check(len(parts) == filters + 1, f"{more}: {len(parts) - 1} filters")
            check(filters == 0 or "copied" in parts[1] and "EPERM" not in parts[1] and "execve" not in parts[1], parts[-1])
            outs.append(json.loads(r.out)["process"])
        check(outs[0] == outs[1], f"{outs[0]}, without a sandbox {outs[1]}")


# Maps one page of each kind of memory that the kernel names like a file, with the right to execute.
MAPPER = """
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
fd, zero = os.memfd_create("jit"), os.open("/dev/zero", os.O_RDWR)
os.truncate(fd, 4096)
for args in (5, mmap.MAP_PRIVATE, fd), (7, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1), (7, mmap.MAP_PRIVATE, zero):
    assert libc.mmap(None, 4096, *args, 0) != ctypes.c_void_p(-1).value, ctypes.get_errno()
shm = libc.shmget(0, 4096, 0o1700)
assert shm >= 0 and libc.shmat(shm, None, 0o100000) != ctypes.c_void_p(-1).value, ctypes.get_errno()
libc.shmctl(shm, 0, None)
print(sys.stdin.readline(), end="", flush=True)
sys.stdin.read()
"""


@case
def memory(folder):
    """Code in memory that the kernel names like a file is a note. No restart of the process changes it."""
    with Waiting(sys.executable, more=("-c", MAPPER)) as w:
        d = Doctor(options=("--quick", "-p", w.pid))
        d.has("process files", "note", r"code in no file: memory with \d+ names", "")
        noted = {f["file"] for f in d.json["process"]["files"] if "code in no file" in f["value"]}
        check({re.sub("[0-9a-f]{8}", "KEY", name) for name in noted}
              >= {"/memfd:jit (deleted)", "/dev/zero", "/dev/zero (deleted)", "/SYSVKEY (deleted)"}, noted)
        check(not [f for f in d.json["process"]["files"] if f["state"] == "broken"], d.json["process"])


@case
def plugin(folder):
    """A plugin that is missing or refused although this machine has QEMU: no advice to install QEMU."""
    if not shutil.which(os.environ.get("PTCAP_QEMU", "qemu-x86_64")):
        lib.skip_without("qemu-x86_64")
    env = {**os.environ, "PTCAP_EMU_PLUGIN": "/nonexistent/x.so"}
    Doctor(env=env).has("qemu", "missing", r"^cannot find '/nonexistent/x.so' \(PTCAP_EMU_PLUGIN\)$", "")
    Doctor(env={**env, "PTCAP_QEMU": "/nonexistent/qemu"}).has("qemu", "missing", "/nonexistent/qemu", "^unset PTCAP_QEMU")
    for unreadable in (folder, "/dev/null"):
        env["PTCAP_EMU_PLUGIN"] = unreadable
        Doctor(env=env).has("qemu", "missing", rf"^'{unreadable}' \(PTCAP_EMU_PLUGIN\) is no readable file$", "")
    global PTCAP
    beside = os.path.join(os.path.dirname(PTCAP), "ptcap-emu.so")
    if not os.path.exists(beside):
        skip("no plugin beside ptcap")
    del env["PTCAP_EMU_PLUGIN"]
    os.chmod(shutil.copy(beside, folder), 0o666)
    PTCAP = shutil.copy(PTCAP, folder)
    Doctor(env=env).has("qemu", "missing", "^the QEMU plugin is refused: other users can change '.*; set PTCAP_EMU_PLUGIN", "")


@case
def hostile(folder):
    """Names of files with control characters act on no terminal. A file that is gone is reported."""
    name = os.path.join(folder, "a\x1b[31m\u202eb c")
    shutil.copy("/bin/cat", name)
    with Waiting(name) as w:
        r = Run([PTCAP, "doctor", "--quick", "-p", w.pid])
        check("\x1b" not in r.out and "\u202e" not in r.out, repr(r.out))
        check(r"a\x1b[31m" in r.out, r.out)
        check(name in {f["file"] for f in Doctor(options=("--quick", "-p", w.pid)).json["process"]["files"]}, "another name")
        os.unlink(name)
        os.mkfifo(name)
        d = Doctor(options=("--quick", "-p", w.pid))
        d.has("process files", "broken", "1 of them gone", "restart")
        gone = [f for f in d.json["process"]["files"] if f["state"] == "broken"]
        check(len(gone) == 1 and gone[0]["mend"] == "restart the process", gone)


if __name__ == "__main__":
    lib.main(CASES)
