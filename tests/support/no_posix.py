"""`python -m tests.support.no_posix serve …`: moongate without what Windows does not have.

It hides modules and names of the standard library, and the loop's signal handlers, so that code that needs one of them
fails here as it would there. What Windows does in another way (paths, rights, open files that cannot be removed) it
does not show.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys

MODULES = ("fcntl", "resource", "termios", "tty", "pwd", "grp", "uvloop", "msvcrt")
NAMES = {
    os: ("fork", "getuid", "geteuid", "getgid", "getegid", "register_at_fork", "posix_fallocate", "pread", "pwrite",
         "statvfs", "O_CLOEXEC", "O_NONBLOCK", "mkfifo", "chown", "fchmod", "killpg", "getpgid", "setsid", "sysconf",
         "sched_getaffinity"),
    signal: ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGKILL", "SIGPIPE", "pthread_sigmask", "sigtimedwait"),
    socket: ("SO_REUSEPORT", "TCP_NOTSENT_LOWAT"),
}  # fmt: skip


def hide() -> None:
    sys.modules.update(dict.fromkeys(MODULES))  # type: ignore[arg-type]
    for module, names in NAMES.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)

    def no_handler(*_: object) -> None:
        raise NotImplementedError

    asyncio.SelectorEventLoop.add_signal_handler = no_handler  # type: ignore[assignment,method-assign]


if __name__ == "__main__":
    hide()
    from moongate.cli import main

    sys.exit(main())
