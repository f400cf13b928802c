# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Every story in examples/ runs and says what its text promises; quickstart.sh works in a fresh
clone, and without root names what it lacks."""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def built():
    return (ROOT / "blib" / "arch" / "auto" / "Devel" / "NYTProf").is_dir() and \
        (ROOT / "bin" / "nytp-export").exists()


def run(script, *arguments, expect=0, env=None, before=(), timeout=600):
    done = subprocess.run([*before, script, *arguments], capture_output=True, text=True, env=env,
                          timeout=timeout, check=False, stdin=subprocess.DEVNULL, cwd="/")
    assert done.returncode == expect, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout, done.stderr


@pytest.fixture
def story(export_command, tmp_path):
    if not built():
        pytest.fail("the profiler is not built")

    def tell(name):
        out, _ = run(EXAMPLES / name, tmp_path)
        return out
    return tell


def test_every_story_is_listed_and_tested():
    stories = {path.name for path in EXAMPLES.glob("*.sh")} - {"common.sh"}
    listed = set(re.findall(r"`([\w-]+\.sh)", (EXAMPLES / "README.md").read_text()))
    tested = set(re.findall(r'"([\w-]+\.sh)"', pathlib.Path(__file__).read_text())) - {"common.sh"}
    assert stories == listed == tested and len(stories) > 4


def test_a_story_ends_what_it_began_and_leaves_no_folder(export_command, tmp_path):
    out, _ = run("bash", "-euc", f'. "{EXAMPLES}/common.sh"; at_exit() {{ echo "$out" "$(ls "$out")"; }}; touch "$out/x"; exit 3',
                 expect=3, env=dict(os.environ, TMPDIR=str(tmp_path)))
    assert out.split()[1:] == ["x"] and list(tmp_path.iterdir()) == []
    for path in EXAMPLES.glob("*.sh"):      # a trap of its own would be instead of the one in common.sh
        assert path.name in ("common.sh", "quickstart.sh") or not re.search(r"(?m)^\s*trap ", path.read_text()), path


def test_slow_line(story):
    text = story("slow-line.sh")
    source = (EXAMPLES / "logreport.pl").read_text().split("\n")
    line = next(n for n, code in enumerate(source, 1) if r"\Q$route\E" in code)
    assert re.search(rf"\d+ calls from main::route_of, line {line}: return \$route if", text)
    assert "The report is the same." in text
    # How long each took, a busy machine decides.
    calls = [int(number) for number in re.findall(r"logreport\.pl: [\d.]+ m?s, \d+ statements, (\d+) calls", text)]
    assert calls[-1] < calls[0] / 2, "the repair spares two thirds of the calls"


def test_workers(story, tmp_path):
    text = story("workers.sh")
    assert text.count("workers.out.PID") == 4
    assert "4 processes" in text
    assert len(re.findall(r"^workers\.pl \(pid PID\): [\d.]+ ms$", text, re.M)) == 4
    events = json.loads((tmp_path / "workers.trace.json").read_text())["traceEvents"]
    assert len({event["pid"] for event in events}) == 4


def test_killed(story, tmp_path):
    text = story("killed.sh")
    assert "exit status 3" in text and "partial" in text
    assert "_[unreturned]" in (tmp_path / "killed.folded").read_text()


def test_region(story, tmp_path):
    # A pause within answer is time of its own: then its callee has a row below it instead of one for all three.
    assert re.search(r"main::RUNTIME\b.*main::answer\b.*main::work\b", text := story("region.sh"), re.S)
    assert "main::load" not in text
    table, _ = run(ROOT / "bin" / "nytp-export", "--csv", tmp_path / "region.out")
    calls = {row["sub"]: int(row["calls"]) for row in csv.DictReader(table.splitlines())}
    assert (calls["main::answer"], calls["main::work"], calls["main::load"]) == (1, 20, 0)


def test_gate(story):
    text = story("gate.sh")
    assert re.search(r"^ +\+\d+ .* main::route_of +new ", text, re.M)
    assert text.index("exit status 10") < text.index("exit status 0")


def clone(folder):
    """The files that git knows, as they are now."""
    known = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "-co",
                            "--exclude-standard"], cwd=ROOT, capture_output=True, check=False)
    if known.returncode:
        pytest.skip("not a git work tree")
    for name in known.stdout.decode().split("\0")[:-1]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def test_quickstart_in_a_fresh_clone(tmp_path, export_command):
    fresh = clone(tmp_path)
    quick = dict(os.environ)    # to compile
    if "CCACHE_DIR" not in quick:
        quick.update(CFLAGS="-O0", PERL_MM_OPT="OPTIMIZE=-O0")
    text, _ = run(fresh / "examples" / "quickstart.sh", timeout=900, env=quick)
    out = fresh / "quickstart-out"
    formats = re.findall(r"^  (\S+)", subprocess.run(
        [export_command, "--list-formats"], capture_output=True, check=True,
        text=True).stdout.partition("Input:")[0], re.M)
    promised = re.findall(r"^(\S+)  +\S", text[text.index("== in "):], re.M)
    assert len(promised) >= len(formats) >= 8
    for name in promised:
        assert (out / name).stat().st_size > 200, name    # --processes has a line for one process
    assert "main::CORE:regcomp" in text
    names = {frame["name"] for frame in json.loads(
        (out / "logreport.speedscope.json").read_text())["shared"]["frames"]}
    assert {"main::route_of", "main::percentile"} <= names
    assert "/shop/category-1/item" in (out / "report.txt").read_text()


def test_quickstart_without_root_says_what_to_install(open_folder):
    """In a world without compiler and make."""
    open_folder.chmod(0o777)
    bare = open_folder / "bin"
    bare.mkdir()
    for command in ("bash", "dirname", "mkdir", "sort", "tr", "cat", "id", "perl", "apt-get"):
        if shutil.which(command):
            (bare / command).symlink_to(shutil.which(command))
    script = open_folder / "examples" / "quickstart.sh"
    script.parent.mkdir()
    shutil.copy(EXAMPLES / "quickstart.sh", script)
    drop = [shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"] \
        if os.geteuid() == 0 else []
    _, errors = run(script, open_folder / "out", expect=1, before=drop, env={"PATH": str(bare)})
    assert "sudo apt-get install --no-install-recommends" in errors
    assert "build-essential" in errors


def test_fleet(story, tmp_path):
    if not (shutil.which("clickhouse-server") and shutil.which("clickhouse-client")):
        pytest.skip("clickhouse-server and clickhouse-client are not installed")
    text = story("fleet.sh")
    assert "listening: 3 shards" in text
    assert re.search(r"hosts: +12\n", text) and re.search(r"processes: +12\n", text)
    assert "main::price" in text.split("Which sub?")[1].split("Which release?")[0]
    assert re.search(r"Which release\?.*\nmain::price\t-?\d{4,}", text)
    assert re.search(r"Which host\?.*\n(.*\n)*?main::price\th7\n", text)
    assert "The sums are equal to the nanosecond." in text
    assert "main::cart;main::price" in (tmp_path / "fleet.folded").read_text()
