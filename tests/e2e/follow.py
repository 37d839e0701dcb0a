#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""follow.py NAME: the emulated source follows a program through exec, or reports which program it
could not follow.

Each function below is a case; its name and text state the behaviour.
"""

import os
import re
import shutil
import sys

import lib
from lib import Run, check, prog

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def recorded(folder, argv, status=None, **kw):
    """Record argv with --strict. Its output and status are the same as alone. Returns the names of
    the traced programs, and ptcap's messages."""
    path = os.path.join(folder, "f")
    plain = Run(argv, **kw)
    r = lib.record(path, argv, "--strict", **kw).expect(plain.status if status is None else status)
    check(r.out == plain.out, f"output {r.out!r}, alone {plain.out!r}: {r.err}")
    traced = set(lib.decode(path, "-F", "tid").expect(0).out.split())
    dump = Run([lib.PTCAP, "dump", "-i", path, "--type", "COMM"]).expect(0).out
    comms = {m[2] for m in re.finditer(r' tid=(\d+) exec comm="([^"]*)"', dump) if m[1] in traced}
    return comms, r.err


def followed(folder, argv, *names, **kw):
    """Nothing is lost, and each named program has branches."""
    comms, err = recorded(folder, argv, **kw)
    check("not recorded" not in err, err)
    check(set(names) <= comms, f"traced: {comms}, expected {names}")


def lost(folder, argv, words, **kw):
    """Expect status 3, and these words."""
    _, err = recorded(folder, argv, status=3, **kw)
    check("programs or threads of the command that were not recorded: 1 (" in err and words in err, err)


@case
def own_exe(folder):
    """/proc/self/exe is the program, not the emulator: for busybox, Go and systemd; after chdir, too."""
    chain = prog("chain_static")
    followed(folder, [chain, "/proc/self/exe"], "exe")
    followed(folder, ["/bin/sh", "-c", f"cd {os.path.dirname(chain)}; ./prog_chain_static /proc/self/exe"], "exe")


@case
def by_descriptor(folder):
    """fexecve: the exec closes the descriptor."""
    followed(folder, [prog("chain_static"), "fd:" + prog("chain_static"), "/usr/bin/true"], "true")


@case
def bad_pointers(folder):
    """An exec with invalid pointers fails as it does alone."""
    followed(folder, [prog("chain_static"), "bad"], "prog_chain_stat")


@case
def loader_variables(folder):
    """LD_LIBRARY_PATH and LD_PRELOAD of a program do not affect QEMU: it does not load these files."""
    with open(os.path.join(folder, "libglib-2.0.so.0"), "w", encoding="ascii") as f:
        f.write("not a library\n")
    script = f"LD_LIBRARY_PATH={folder} /bin/echo works; LD_LIBRARY_PATH={folder} /usr/bin/env | sort"
    followed(folder, ["/bin/sh", "-c", script], "echo", "env")
    env = {**os.environ, "LD_LIBRARY_PATH": folder}
    followed(folder, ["/bin/sh", "-c", "env | sort"], "env", env=env)


@case
def any_variable(folder):
    """No variable of a program affects QEMU, with or without commas; their order stays."""
    with open(os.path.join(folder, "libglib-2.0.so.0"), "w", encoding="ascii") as f:
        f.write("not a library\n")
    script = f"""
        LD_LIBRARY_PATH={folder}:/a,b /bin/echo works
        LD_LIBRARY_PATH={folder}:/a,b /usr/bin/env
        LD_DEBUG=libs,files /bin/true 2>&1 | grep -c calling
        GNUTLS_DEBUG_LEVEL=9 /bin/true 2>&1
        QEMU_LOG=strace,page /bin/true 2>&1"""
    followed(folder, ["/bin/sh", "-c", script], "echo", "env", "true")
    env = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:/a,b", "QEMU_STRACE": "1", "LAST": "1"}
    followed(folder, ["env"], "env", env=env)


@case
def own_name(folder):
    """A program's name, arguments and environment are in /proc, also those that it writes there
    itself."""
    followed(folder, ["/bin/cat", "/proc/self/comm", "/proc/self/environ"], "cat")
    script = "cat /proc/$$/comm /proc/$$/cmdline /proc/$$/environ; A=1 LD_B=2 cat /proc/self/environ"
    followed(folder, ["/bin/sh", "-c", script, "a", "", "b"], "cat")
    followed(folder, ["/usr/bin/env", "-i", "/bin/sh", "-c", "cat /proc/$$/environ /proc/$$/cmdline"], "cat")
    if shutil.which("perl"):
        followed(folder, ["perl", "-e", '$0 = "a title"; system("cat /proc/$$/cmdline /proc/$$/comm")'], "perl", "cat")


@case
def killed(folder):
    """A death by a signal prints no more than alone. A core does not contain the recording's
    memory, 1.4 GB."""
    script = """ulimit -c unlimited 2>/dev/null
        { sh -c 'kill -SEGV $$'; sh -c 'kill -ABRT $$'; echo $?; } 2>&1 | sed 's/ (core dumped)//'"""
    followed(folder, ["/bin/sh", "-c", script], "sh", cwd=folder)
    sizes = [os.stat(os.path.join(folder, name)).st_size for name in os.listdir(folder)]
    check(max(sizes) < 1 << 30, f"{sizes}")


def as_nobody():
    """Return the words before a command for another user."""
    if os.getuid() or not shutil.which("setpriv"):
        lib.skip("only root can become another user, by setpriv")
    ret = ["setpriv", "--reuid", "65534", "--clear-groups"]
    if Run([*ret, "test", "-r", os.path.join(os.path.dirname(lib.PTCAP), "ptcap-emu.so")]).status:
        lib.skip("that user cannot read ptcap's files here")
    return ret


@case
def another_user(folder):
    """A program that gave up root is recorded."""
    followed(folder, [*as_nobody(), "id", "-u"], "id")


def may_open_mappings():
    """Return true if a process may open /proc/self/map_files. An emulated program uses it to find
    the recording's memory again."""
    folder = "/proc/self/map_files"
    try:
        os.close(os.open(os.path.join(folder, os.listdir(folder)[0]), os.O_RDONLY))
    except PermissionError:
        return False
    return True


@case
def another_ipc(folder):
    """A program in another IPC namespace, and the programs it executes, are recorded."""
    argv = ["unshare", "-i", "/bin/sh", "-c", "/usr/bin/id -u; ls /proc/self/fd"]
    if not shutil.which("unshare") or Run(argv).status:
        lib.skip("no IPC namespaces here")
    if may_open_mappings():
        followed(folder, argv, "sh", "id", "ls")
    else:
        lost(folder, argv, "'/bin/sh' runs as another user, or in another IPC namespace")


@case
def pid_namespaces(folder):
    """Processes of two PID namespaces have equal numbers there, and different ones in the
    recording; threads, too."""
    argv = ["unshare", "-p", "-f", "/bin/sh", "-c"]
    if not shutil.which("unshare") or Run([*argv, "true"]).status:
        lib.skip("no PID namespaces here")
    if not Run(["unshare", "-p", "-f", "--mount-proc", "true"]).status:  # fails in a chroot
        argv.insert(3, "--mount-proc")
    script = f"echo $$; {prog('tasks')} locks >/dev/null; seq 20000 | tail -n 1; exec ls -d /"
    script = f"{' '.join(argv)} '{script}' & {' '.join(argv)} '{script}' | cat & wait"
    path, truth = os.path.join(folder, "p"), os.path.join(folder, "t")
    plain = Run(["/bin/sh", "-c", script])
    r = lib.record(path, plain.argv, "--strict", "--truth", truth).expect(0)
    check(sorted(r.out.split()) == sorted(plain.out.split()), f"output {r.out!r}, alone {plain.out!r}")
    check("untraced" not in r.err and "unexpected jump" not in r.err, r.err)
    tids = lib.equals_truth(path, truth)
    check(len(tids) >= 16 and not {1, 2, 3} & tids.keys(), f"threads: {sorted(tids)}")


@case
def foreign(folder):
    """A 32-bit program runs, and is reported by name."""
    try:
        Run([prog("32")])
    except OSError:
        lib.skip("no 32-bit programs here")
    lost(folder, ["/bin/sh", "-c", f"{prog('32')}; true"], "prog_32' is not a 64-bit x86 program")


@case
def another_root(folder):
    """QEMU is not in the new root."""
    if os.getuid():
        lib.skip("only root can change the root")
    shutil.copy(prog("exit"), os.path.join(folder, "exit"))
    lost(folder, ["/bin/sh", "-c", f"chroot {folder} /exit 0"], "'/exit' has another root directory")


@case
def unreadable(folder):
    """A file that is executable but not readable; a missing file is not counted."""
    hidden = os.path.join(folder, "hidden")
    shutil.copy(prog("exit"), hidden)
    os.chmod(hidden, 0o111)
    followed(folder, ["/bin/sh", "-c", "/nowhere; PATH=/nowhere:/usr/bin id -u"], "id")
    os.chmod(folder, 0o711)
    lost(folder, [*as_nobody(), "/bin/sh", "-c", f"{hidden} 0"], "hidden' cannot be read")


@case
def rights(folder):
    """A set-user-ID program has only its caller's rights, and ptcap reports that."""
    program = os.path.join(folder, "set_id")
    shutil.copy(prog("exit"), program)
    os.chmod(program, 0o4755)
    os.chmod(folder, 0o711)
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        lib.skip("such programs have no rights in this folder")
    path, nobody = os.path.join(folder, "f"), as_nobody()
    for argv in ([*nobody, program, "0"], [*nobody, "/bin/sh", "-c", f"{program} 0; true"]):
        r = lib.record(path, argv, "--strict").expect(3)
        check("QEMU does not support some system calls of the program (execve of a set-ID file)" in r.err, r.err)
    followed(folder, [program, "0"], "set_id")
    followed(folder, [*nobody, "--no-new-privs", program, "0"], "set_id")


@case
def mount_namespace(folder):
    """A program enters another mount namespace: QEMU's own thread does not prevent it."""
    argv = ["/bin/sh", "-c", "nsenter -t $$ -m /usr/bin/true"]
    if not shutil.which("nsenter") or Run(argv).status:
        lib.skip("no mount namespaces here")
    root = Run(["/bin/sh", "-c", "stat -c %d:%i /; nsenter -t $$ -m stat -c %d:%i /"]).out.split()
    if root[0] == root[1]:
        followed(folder, argv, "nsenter", "true")
    else:  # the tests run in a chroot, which that namespace does not have
        lost(folder, argv, "'/usr/bin/true' has another root directory")


@case
def lacking(folder):
    """Features that QEMU lacks are reported, though the command runs on without them: a call, a
    limit on memory."""
    path = os.path.join(folder, "l")
    for options in (["--strict"], ["--strict", "-q"]):
        r = lib.record(path, ["/bin/sh", "-c", "unshare -U true 2>/dev/null; true"], *options).expect(3)
        check("QEMU does not support some system calls of the program (unshare)" in r.err, r.err)
    r = lib.record(path, ["/bin/sh", "-c", "ulimit -v 1000000; ulimit -s 4096; echo"], "--strict").expect(3)
    check("QEMU does not support some system calls of the program (prlimit64)" in r.err, r.err)


if __name__ == "__main__":
    lib.main(CASES)
