# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""nytp-spy in a terminal, under a shell that does what shells do with jobs."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import spied


class Job:
    """nytp-spy in a terminal, as a shell runs it: in a process group of its own, which is in front. Only so Ctrl-Z stops it."""

    def __init__(self, *arguments, columns=80, **to_run):
        self.told, tell = os.pipe()
        asked, ask = os.pipe()
        self.shown = b""
        self.shell, self.terminal = pty.fork()
        if self.shell == 0:
            os.read(asked, 1)
            self.be_shell(tell, [spied.SPY, *map(str, arguments)], **to_run)
        os.close(tell)
        self.before = termios.tcgetattr(self.terminal)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.write(ask, b"!")
        os.close(asked), os.close(ask)
        self.pid = int(self.line())

    @staticmethod
    def be_shell(tell, command, stdout=None, ignores=()):
        """Whom it starts may be stopped, as it is there to wait for that."""
        for number in signal.SIGTTOU, signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN)
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            for number in signal.SIGTTOU, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
                signal.signal(number, signal.SIG_IGN if number in ignores else signal.SIG_DFL)
            if stdout:
                os.dup2(os.open(stdout, os.O_WRONLY), 1)
            os.execv(command[0], command)
        os.write(tell, b"%d\n" % pid)
        while True:
            status = os.waitpid(pid, os.WUNTRACED)[1]
            os.write(tell, b"stopped\n" if os.WIFSTOPPED(status) else b"%d\n" % os.waitstatus_to_exitcode(status))
            if not os.WIFSTOPPED(status):
                os._exit(0)

    def line(self):
        """What the shell tells next: "stopped", or a status. Meanwhile what is shown is read, as a terminal does."""
        line, until = b"", time.monotonic() + 600
        while not line.endswith(b"\n"):
            assert time.monotonic() < until, self.shown[-2000:]
            for fd in select.select([self.told, self.terminal], [], [], 1)[0]:
                if fd == self.told:
                    line += os.read(self.told, 1)
                else:
                    self.read()
        return line.decode().strip()

    def read(self):
        with contextlib.suppress(OSError):
            self.shown += os.read(self.terminal, 65536)

    def press(self, key):
        os.write(self.terminal, key)

    def wait_for(self, expression, n=1):
        until = time.monotonic() + 600
        while len(re.findall(expression, self.shown)) < n:
            assert time.monotonic() < until, self.shown[-2000:]
            if select.select([self.terminal], [], [], 1)[0]:
                self.read()

    def drain(self):
        while select.select([self.terminal], [], [], 0)[0]:
            before = len(self.shown)
            self.read()
            if len(self.shown) == before:
                break

    def state(self):
        """Of the terminal: as it was before, or what is not."""
        self.drain()
        modes = dict(re.findall(rb"\x1b\[\?(\d+)([hl])", self.shown))
        wrong = [name for name, code, normal in (("screen", b"1049", b"l"), ("cursor", b"25", b"h"), ("wrap", b"7", b"h"))
                 if modes.get(code, normal) != normal]
        if termios.tcgetattr(self.terminal) != self.before:
            wrong.append("raw")
        return " ".join(wrong) or "as it was"

    def hang_up(self):
        os.close(self.terminal)
        self.terminal = None

    def close(self):
        """Ends it, with all of its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self.told)
        if self.terminal is not None:
            self.hang_up()
        os.waitpid(self.shell, 0)
