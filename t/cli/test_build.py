# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""exporters/Makefile: plugs are found, the command builds and installs by itself."""

import os
import shutil
import subprocess

import profiles
import pytest

from command import ROOT

PLUG = """
#include "exporters/base/exporter.h"

static bool hello_write(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, struct nytp_out *out)
{
    (void)options;
    nytp_printf(out, "hello %lu\\n", (unsigned long)profile->n_subs);
    return true;
}

const struct nytp_exporter nytp_exporter_hello = {
    .name = "hello", .title = "a test", .suffixes = ".hello", .write = hello_write};
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what the plain-C half consists of, built once."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("formats", "exporters", "sampling", "spy", "XS/options", "doc", "completions", "share", "bin"):
        shutil.copytree(ROOT / name, copy / name, ignore=lambda folder, names: [
            entry for entry in names if folder == str(ROOT / "exporters") and entry.startswith("build")])
    make(copy)
    return copy


def make(tree, *arguments):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR", "PREFIX")}
    done = subprocess.run(["make", "-j2", "-C", str(tree / "exporters"), *profiles.QUICK_FLAGS,
                           *arguments], capture_output=True, text=True, check=False,
                          env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "warning" not in done.stderr
    return done.stdout


def listed(tree):
    return subprocess.run([tree / "bin" / "nytp-export", "--list-formats"], check=True,
                          capture_output=True, text=True).stdout


def test_nothing_is_done_twice(tree):
    assert "Nothing to be done" in make(tree) or "cc" not in make(tree)


def test_a_new_exporter_is_a_new_file(tree, profile):
    assert "hello" not in listed(tree)
    plug = tree / "exporters" / "hello.c"
    plug.write_text(PLUG)
    make(tree)
    assert "hello" in listed(tree)
    command = tree / "bin" / "nytp-export"
    done = subprocess.run([command, "--hello", profile("mixed-calls2")], check=True,
                          capture_output=True)
    assert done.stdout.startswith(b"hello ")
    plug.unlink()
    make(tree)
    assert "hello" not in listed(tree)


def test_a_header_is_a_dependency(tree):
    os.utime(tree / "formats" / "base" / "units.h")
    assert "units.o" in make(tree)


def test_perl_is_not_on_the_include_path(tree):
    plug = tree / "exporters" / "hello.c"
    plug.write_text('#include "perl.h"\n' + PLUG)
    done = subprocess.run(["make", "-C", str(tree / "exporters"), *profiles.QUICK_FLAGS, "lib"],
                          capture_output=True, text=True, check=False)
    plug.unlink()
    make(tree)
    assert done.returncode != 0
    assert "perl.h: No such file" in done.stderr


def test_it_installs_by_itself(tree, tmp_path):
    make(tree, "install", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")
                   if path.is_file() and "nytp-spy" not in path.name)    # not for every processor
    assert files == ["usr/bin/nytp",
                     "usr/bin/nytp-doctor",
                     "usr/bin/nytp-export",
                     "usr/share/bash-completion/completions/nytp",
                     "usr/share/bash-completion/completions/nytp-export",
                     "usr/share/man/man1/nytp-doctor.1",
                     "usr/share/man/man1/nytp-export.1",
                     "usr/share/man/man1/nytp.1",
                     "usr/share/man/man7/nytp-formats.7",
                     "usr/share/man/man7/nytp-gate.7",
                     *(f"usr/share/nytp/clickhouse/{name}" for name in
                       ("cluster.xml", "distributed.sql", "queries.sql", "schema.sql")),
                     *(f"usr/share/nytp/editors/{name}" for name in
                       ("README.md", "emacs/nytp.el", "vim/plugin/nytp.vim", "vscode/extension.js", "vscode/package.json")),
                     "usr/share/zsh/site-functions/_nytp",
                     "usr/share/zsh/site-functions/_nytp-export"]
    assert os.access(tmp_path / "usr/bin/nytp-export", os.X_OK)
