"""Watches what a piece of code does to the world outside: files, network, processes.

Python announces such deeds to audit hooks, which cannot be taken off again; this one looks
away unless somebody is watching.
"""

import os
import signal
import sys
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path

NETWORK = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo")
PROCESSES = (
    *("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile"),
    *("os.system", "subprocess.Popen", "pty.spawn"),
)
UNPICKLED = ("pickle.find_class", "marshal.load", "marshal.loads")
CHANGES = (
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"),
    *("os.symlink", "os.truncate", "os.utime", "shutil.rmtree", "shutil.move"),
)
# What opening a file to change it looks like.
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Watch:
    """The deeds of one thread while it is watched."""

    def __init__(self, *writable):
        self.writable = [os.path.realpath(each) for each in writable]
        self.thread = threading.get_ident()
        self.deeds, self.busy = [], False

    def see(self, event, arguments):
        if event in NETWORK or event in PROCESSES:
            self.deeds.append((event, str(arguments)[:200]))
        elif event in UNPICKLED and not self._is_import():
            self.deeds.append((event, str(arguments)[:200]))
        elif event == "open" and _writes(*arguments[1:]):
            self._wrote(event, arguments[0])
        elif event in CHANGES:
            for path in arguments[: 2 if event in ("os.rename", "os.link") else 1]:
                self._wrote(event, path)

    def _wrote(self, event, path):
        """Byte code is kept by Python; devices are no files."""
        if isinstance(path, int):
            return
        where = os.path.realpath(os.fsdecode(path))
        allowed = any(_is_inside(where, each) for each in self.writable)
        if not allowed and "__pycache__" not in where and not where.startswith("/dev/"):
            self.deeds.append((event, where))

    @staticmethod
    def _is_import():
        """Whether the import machinery is at work."""
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False


_watching = []


def _hook(event, arguments):
    for watch in _watching:
        if threading.get_ident() == watch.thread and not watch.busy:
            watch.busy = True
            try:
                watch.see(event, arguments)
            finally:
                watch.busy = False


@cache
def _hook_once():
    sys.addaudithook(_hook)


@contextmanager
def watched(*writable):
    """Collect what is done elsewhere than in these folders."""
    _hook_once()
    watch = Watch(*writable)
    _watching.append(watch)
    try:
        yield watch
    finally:
        _watching.remove(watch)


def _writes(mode, flags):
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & WRITING)


def _is_inside(path, folder):
    return path == folder or path.startswith(folder + os.sep)


class Hang(BaseException):
    """No ``except Exception`` may swallow it."""


@contextmanager
def time_limit(seconds):
    """Raise :class:`Hang` in this thread after so much work, or ten times as long waiting.

    The machine may be busy with something else meanwhile.
    """

    def over(signum, frame):
        raise Hang(f"not done after {seconds} seconds")

    clocks = [
        (signal.SIGPROF, signal.ITIMER_PROF, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, 10 * seconds),
    ]
    before = [signal.signal(each, over) for each, _, _ in clocks]
    for _, timer, limit in clocks:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (each, timer, _), handler in zip(clocks, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(each, handler)


def files_in(folder):
    """All files of a folder, with their sizes."""
    paths = Path(folder).rglob("*")
    return {str(path.relative_to(folder)): path.lstat().st_size for path in paths}
