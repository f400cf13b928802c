# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Opens a file in the Firefox Profiler's own code, by its command line (npm
@firefox-devtools/profiler-cli), and asks it questions.

    with Session("/x/app.firefox.json") as session:
        session.threads()                  -> [(handle, name)]
        session.functions("t-1")           -> {name: (self, total)} in the profile's unit
        session.ask("thread", "markers", "--json")   -> text

Its `load` leaves a server behind, in a home folder of its own here; leaving the block ends it.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

COMMAND = (pathlib.Path(__file__).resolve().parents[1] / ".cache" / "node" / "node_modules"
           / "@firefox-devtools" / "profiler-cli" / "dist" / "profiler-cli.js")


def missing():
    lacking = [] if shutil.which("node") else ["node"]
    return lacking + ([] if COMMAND.exists() else ["npm @firefox-devtools/profiler-cli"])


class FirefoxError(Exception):
    pass


class Session:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="nytp-firefox.")
        try:
            self._load()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _load(self):
        loaded = self._run("load", str(self.path))
        deadline = time.monotonic() + 600
        while loaded.returncode and self._run("status").returncode:     # a large file takes longer than load waits
            if time.monotonic() > deadline:
                raise FirefoxError(f"{self.path.name}: {loaded.stdout}{loaded.stderr}")
            time.sleep(0.2)

    def __exit__(self, *_):
        self._run("stop", "--all")
        shutil.rmtree(self.home, ignore_errors=True)

    def _run(self, *arguments):
        return subprocess.run(["node", str(COMMAND), *arguments], capture_output=True, text=True,
                              timeout=600, check=False, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, HOME=self.home, TMPDIR=self.home))

    def ask(self, *arguments):
        done = self._run(*arguments)
        if done.returncode or "Error" in done.stderr:
            raise FirefoxError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def threads(self):
        text = self.ask("profile", "info", "--all")
        return re.findall(r"^\s+(t-\d+): (.*) \[tid", text, re.M)

    def functions(self, thread, strategy="timing"):
        """Sums by name: a sub that ran lines of two files is two functions. A strategy of allocations
        counts bytes."""
        answer = json.loads(self.ask("thread", "functions", "--thread", thread, "--limit", "0",
                                     "--include-idle", "--strategy", strategy, "--json"))
        sums = collections.defaultdict(lambda: [0, 0])
        for function in answer["functions"]:
            sums[function["name"]][0] += function["selfSamples"]
            sums[function["name"]][1] += function["totalSamples"]
        return {name: tuple(pair) for name, pair in sums.items()}

    def lines(self, thread, name):
        """{line: own time} of the whole file in which the sub is."""
        self.ask("thread", "select", thread)
        answer = json.loads(self.ask("thread", "functions", "--limit", "0", "--json"))
        handle = next(function["functionHandle"] for function in answer["functions"]
                      if function["name"] == name)
        source = json.loads(self.ask("function", "annotate", handle, "--context", "file",
                                     "--json"))["srcAnnotation"]
        return {line["lineNumber"]: line["selfSamples"] for line in source["lines"]
                if line["selfSamples"]}

    def marker_counts(self):
        """{name: how many} of the selected thread."""
        answer = json.loads(self.ask("thread", "markers", "--json"))
        return {kind["markerName"]: kind["count"] for kind in answer["byType"]}
