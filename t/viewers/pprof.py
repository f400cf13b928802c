# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Runs the pprof of the Go distribution and reads its reports as exact numbers."""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import ports

ALL = ["-nodefraction=0", "-edgefraction=0", "-nodecount=1000000"]
TOP = re.compile(r"\s*(-?[\d.]+)(\S*)\s+\S+\s+\S+\s+(-?[\d.]+)(\S*)\s+\S+\s+(.*)\Z")


class ViewerError(Exception):
    pass


def missing():
    return [name for name in ("go",) if not shutil.which(name)]


def tool():
    """pprof itself rather than `go tool pprof`: one process, so one kill ends it."""
    where = subprocess.run(["go", "env", "GOTOOLDIR"], capture_output=True, check=True, text=True)
    return pathlib.Path(where.stdout.strip()) / "pprof"


def environment(home):
    return dict(os.environ, HOME=home, PPROF_TMPDIR=home, LC_ALL="C.UTF-8")


def run(*arguments, pipe=None):
    """(stdout, stderr) of one report. `pipe` is bytes that the profile /dev/stdin gives."""
    with tempfile.TemporaryDirectory(prefix="nytp-pprof.") as home:
        done = subprocess.run([tool(), *map(str, arguments)], capture_output=True, timeout=600,
                              env=environment(home), check=False, cwd="/",
                              **({"input": pipe} if pipe is not None
                                 else {"stdin": subprocess.DEVNULL}))
    out = done.stdout.decode("utf-8", "replace")
    errors = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        raise ViewerError(f"pprof {arguments}: {errors[-1500:]}")
    return out, errors


def top(path, *arguments, pipe=None):
    """name -> (flat, cum) with exact numbers, and the total."""
    out, errors = run("-top", *ALL, "-unit=ns", *arguments, path, pipe=pipe)
    rows = {}
    total = None
    for line in out.splitlines():
        match = re.search(r" of (-?[\d.]+)\S* total", line)
        if match:
            total = int(float(match[1]))
        match = TOP.match(line)
        if match and not line.lstrip().startswith("flat"):
            if match[5] in rows:
                raise ViewerError(f"{match[5]} is there twice")
            rows[match[5]] = (int(float(match[1])), int(float(match[3])))
    return rows, total, errors


class Server:
    """pprof's web interface on a free port, as a context."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="nytp-pprof.")
        port, = ports.free_ports(1)
        self.url = f"http://127.0.0.1:{port}/ui/"
        self.process = subprocess.Popen(
            [tool(), f"-http=127.0.0.1:{port}", "-no_browser", *ALL, str(self.path)],
            env=environment(self.home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, cwd="/")
        for _ in range(600):                    # it says nowhere that it listens
            try:
                self.get("top")
                return self
            except urllib.error.URLError:
                if self.process.poll() is not None:
                    raise ViewerError(self.process.stderr.read().decode()) from None
                time.sleep(0.1)
        raise ViewerError("pprof -http does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def get(self, page):
        with urllib.request.urlopen(self.url + page, timeout=600) as answer:
            return answer.read().decode("utf-8", "replace")

    def top(self, query=""):
        """name -> (flat, cum) from the table of the page, and the total."""
        page = self.get("top" + query)
        start = page.rindex("makeTopTable(") + len("makeTopTable(")
        total, rest = page[start:].split(",", 1)
        rows, _ = json.JSONDecoder().raw_decode(html.unescape(rest.strip()))
        return {row["Name"]: (row["Flat"], row["Cum"]) for row in rows}, int(total)

    def flamegraph(self):
        """The tree of the flame graph page: {n: name, v: value, c: children}."""
        page = self.get("flamegraph")
        match = re.search(r'var data = JSON\.parse\("((?:[^"\\]|\\.)*)"\)', page)
        if match:
            return json.loads(json.loads('"' + match[1].replace("\\'", "'") + '"'))
        match = re.search(r"var data = (\{.*?\});\n", page, re.S)
        if match:
            return json.loads(match[1])
        raise ViewerError("no tree in the flame graph page")
