# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The command line: options.def is the one list, and everything else agrees with it."""

import functools
import os
import pty
import re
import select
import shutil
import subprocess

import pytest

from command import COMMAND, ROOT, beside, comparing, exporter_sources, formats, good, messages, options_table, places, run


def refused(*arguments):
    """The message of a refused command line."""
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    lines = messages(done)
    assert len(lines) == 1
    assert lines[0].startswith("nytp-export: ")
    return lines[0]


# ---- one table ----

def test_help_lists_each_option_with_its_value():
    text = good("--help").decode()
    assert max(map(len, text.splitlines())) <= 100
    for name, (short, _, value) in options_table().items():
        left = f"--{name}{value if value.startswith('[') else ' ' + value if value else ''}"
        start = f"  -{short}, {left}" if short else f"      {left}"
        rows = [line for line in text.splitlines() if f"{line} ".startswith(f"{start} ")]
        assert rows, left


def test_short_options_are_unique():
    letters = [short for short, _, _ in options_table().values() if short]
    assert len(letters) == len(set(letters)) >= 4


PAGES = ["nytp-export.1", "nytp-formats.7", "nytp-gate.7"]


def section(name, page="nytp-export.1"):
    text = (ROOT / "doc" / page).read_text()
    return re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH )", text, re.DOTALL | re.MULTILINE)[1]


def headed_by_flags(roff):
    """The names of the entries of a section, each of which is a flag."""
    return re.findall(r"^\.TP\n\.B --([a-z-]+)$", roff.replace("\\-", "-"), re.MULTILINE)


def plain(roff):
    """Roff with its fonts and escapes taken out."""
    roff = re.sub(r"\\f[A-Z]", "", roff).replace("\\-", "-")
    return re.sub(r'(?m)^\.[A-Z]+ ?|"', "", roff)


def test_the_manual_describes_each_option_and_no_other():
    entries = {}
    for entry in section("OPTIONS").split(".TP\n")[1:]:
        head, _, body = entry.partition("\n")
        for name, value in re.findall(r"--([a-z-]+) *(\[=[A-Z]*\]|[^-,\s]\S*|)(?=,|$)", plain(head)):
            entries[name] = value
        assert len(plain(body).split()) >= 3, head
    assert entries == {name: value for name, (_, _, value) in options_table().items()}


def test_the_help_tells_what_an_option_is_for():
    help_ = re.sub(r"\n {20,}", " ", good("--help").decode())
    shown = re.findall(r"(?m)^ +(?:-\w, )?--([a-z-]+).* \[(.*)\]$", help_)
    for name, words in shown:
        found = {place for place in places(name) if place.removesuffix(" --diff") == place or place.split()[0] not in places(name)}
        assert {word.lstrip("-") for word in words.split(", ")} == (found | {beside().get(name)}) - {None}, name
    assert len(shown) == 31


def test_the_manual_tells_how_each_format_shows_a_difference():
    described = headed_by_flags(section("FORMATS OF A DIFFERENCE", "nytp-gate.7"))
    assert sorted(described) == sorted(comparing())


def test_the_rules_in_the_manual_can_be_read(profile, tmp_path):
    example, = re.findall(r"\n\.nf\n(.*?)\.fi\n", section("RULES", "nytp-gate.7"), re.DOTALL)
    (tmp_path / "rules").write_text(example.replace("\\-", "-").replace("\\e", "\\"))
    file = profile("mixed-calls2")
    done = run("-q", "--diff", file, "--gate", tmp_path / "rules", "--gate-tap", file)
    assert done.stdout.decode().startswith(f"1..{len(example.splitlines())}\n"), done.stderr


def test_the_manual_describes_each_format():
    described = headed_by_flags(section("FORMATS", "nytp-formats.7"))
    assert not set(formats()) ^ set(described), "without a paragraph under FORMATS of doc/nytp-formats.7, or gone"
    assert len(described) == len(set(described))


@pytest.mark.parametrize("page", PAGES)
def test_the_manual_is_well_formed(page):
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(["groff", "-man", "-ww", "-z", str(ROOT / "doc" / page)],
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def complete_by(name, command, *words):
    """What the function of this completion offers behind these words."""
    script = ('source "$0"; compopt() { :; }; name=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              '"_${name//-/_}" "$1"; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, str(ROOT / "completions" / f"{name}.bash"), name, str(command), *words],
                          capture_output=True, text=True, check=True, env={**os.environ, "PERL5LIB": f"{ROOT}/lib"})
    assert done.stderr == ""
    return done.stdout.split()


complete = functools.partial(complete_by, "nytp-export", COMMAND)
complete_nytp, complete_spy, complete_ctl = (
    functools.partial(complete_by, name, ROOT / "bin" / name) for name in ("nytp", "nytp-spy", "nytp-ctl"))


def test_bash_completes_each_option_and_format():
    wanted = {"--" + name for name in [*options_table(), *formats()]}
    assert set(complete("--")) == wanted
    assert complete("--per-p") == ["--per-process"]


def test_bash_completes_values(tmp_path):
    assert sorted(complete("--format", "")) == sorted(formats())
    assert complete("--format", "=", "callg") == ["callgrind"]
    assert complete("--unit", "m") == ["ms"]
    assert complete("--clock", "") == ["user", "system", "real"]
    assert complete("--labels", "=", "pid") == ["pid,script", "pid"]
    assert complete("--annotations", "") == ["github"] and complete("--by", "") == ["label"]
    assert complete("--as", "") == ["text", "csv", "json", "markdown", "html"]
    assert complete("--focus", "") == [] and "--focus" in complete("--strict", "--fo")
    weights = set(re.findall(r'^NYTP_MEASURE\(\w+, "(\w+)"', (ROOT / "formats/model/measures.def").read_text(), re.M)) - {"incl"}
    assert set(complete("--weight", "")) == weights <= set(re.findall(r"\\fB(\w+)\\fP", (ROOT / "doc/nytp-export.1").read_text()))
    assert complete("--sort", "p") == ["percall"]
    (tmp_path / "nytprof.out.7").touch()
    assert complete(str(tmp_path / "ny")) == [str(tmp_path / "nytprof.out.7")]


def test_bash_completes_the_commands_of_a_command():
    assert sorted(set(complete_nytp("spy", ""))) == ["dump", "heap", "record", "top"]
    assert complete_nytp("spy", "d") == ["dump"]
    assert "--rate" in complete_nytp("spy", "top", "--")


def test_bash_completes_what_looks_at_running_programs(tmp_path):
    text = subprocess.run([ROOT / "bin" / "nytp-spy", "--help"], capture_output=True, text=True, check=True).stdout
    assert sorted(set(complete_spy(""))) == ["dump", "heap", "record", "top"]
    assert complete_spy("re") == ["record"]
    assert set(complete_spy("top", "--")) == set(re.findall(r"--[a-z][a-z-]+", text))
    assert complete_spy("top", "--rate", "") == []
    assert str(os.getpid()) in complete_spy("dump", "")
    (tmp_path / "core.7").touch()
    assert complete_spy("heap", "--core", str(tmp_path / "co")) == [str(tmp_path / "core.7")]
    assert str(os.getpid()) not in complete_spy("heap", "--core", "")


def test_bash_completes_what_a_program_is_told():
    manual = (ROOT / "bin" / "nytp-ctl").read_text(encoding="utf-8")
    assert set(complete_ctl("--")) == set(re.findall(r"^    (?:-\w, )?(--[a-z]+)", manual, re.MULTILINE))
    commands = re.findall(r"^    ([a-z]+)(?: \[NAME\])?  ", manual, re.MULTILINE)
    assert complete_ctl("--wait", "") != []
    assert sorted(complete_ctl("4711", "")) == sorted(commands)
    assert complete_ctl("4711", "ch") == ["checkpoint"]
    with subprocess.Popen(["sleep", "30"]) as sleeper:
        try:
            assert str(sleeper.pid) in complete_ctl("")
        finally:
            sleeper.kill()


class Zsh:
    """A zsh on a terminal, with its own completion system and our functions. ^T shows what is typed so far."""

    def __init__(self, folder):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", PERL5LIB=f"{ROOT}/lib", PATH=f"{ROOT}/bin:{os.environ['PATH']}")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.type(f"PS1=''; fpath=({ROOT}/completions $fpath); autoload -Uz compinit; compinit -u -D; "
                  "show() { print -r -- \"<$BUFFER>\" }; zle -N show; bindkey '^T' show; print loa''ded\n")
        self.until(rb"loaded\r\n")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def until(self, pattern):
        text = b""
        while not re.search(pattern, text):
            assert select.select([self.terminal], [], [], 300)[0], text
            text += os.read(self.terminal, 65536)
        return re.search(pattern, text)

    def completed(self, line):
        self.type(f"\x15{line}\t\x14")
        return self.until(rb"<([^<>]*)>\r\n")[1].decode()

    def end(self):
        os.close(self.terminal)             # hangs up
        os.waitpid(self.pid, 0)


@pytest.fixture(scope="module")
def zsh(tmp_path_factory):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    folder = tmp_path_factory.mktemp("typed")
    (folder / "a").mkdir()
    (folder / "a" / "only.out").touch()
    shell = Zsh(folder)
    yield shell
    shell.end()


@pytest.mark.parametrize("typed, completed", [
    ("nytp-export --per-p", "nytp-export --per-process "), ("nytp-export --callg", "nytp-export --callgrind "),
    ("nytp-export --weight=st", "nytp-export --weight=statements "), ("nytp-export --labels scr", "nytp-export --labels script"), ("nytp-export --sort pe", "nytp-export --sort percall "),
    ("nytp-export --format=callg", "nytp-export --format=callgrind "), ("nytp-export --by l", "nytp-export --by label "),
    ("nytp-export a/on", "nytp-export a/only.out "),
    ("nytp-ctl 4711 che", "nytp-ctl 4711 checkpoint "), ("nytp-ctl --vers", "nytp-ctl --version "),
    ("nytp-spy rec", "nytp-spy record "), ("nytp-spy top --no-r", "nytp-spy top --no-realtime "),
    ("nytp-spy heap --core a/on", "nytp-spy heap --core a/only.out "),
    ("nytp ex", "nytp export "), ("nytp export --callg", "nytp export --callgrind "),
    ("nytp spy rec", "nytp spy record "), ("nytp spy top --no-r", "nytp spy top --no-realtime "),
])
def test_zsh_completes_what_is_typed(zsh, typed, completed):
    assert zsh.completed(typed) == completed


# ---- refusals ----

@pytest.mark.parametrize("argument, instead", [
    ("--accept=rules", "accept REGEX"), ("--allow-absent", "or absent"), ("--brief=json", "--json"),
    ("--fail-least=2", "--gate"), ("--keep-overhead", "--as-recorded")])
def test_an_option_that_went_is_answered_with_what_does_its_work(argument, instead):
    done = run(argument, "x")
    assert done.returncode == 2 and argument.split("=r")[0].split("=2")[0].encode() + b" is gone: " in done.stderr
    assert instead.encode() in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("typed, meant", [
    ("--calgrind", "--callgrind"), ("--colapse-recursion", "--collapse-recursion"),
    ("--list-format", "--list-formats"), ("--foucs", "--focus"), ("--verison", "--version"),
    ("--output-file", "--output"), ("--flame", "--flamegraph"), ("--svg", "--flamegraph"), ("--perfetto", "--chrome-trace"),
    ("--to=pprof", "--format"), ("--calls", None), ("--zzz", None), ("--x=3", None),
])
def test_a_typo_gets_the_nearest_option(typed, meant):
    message = refused(typed)
    assert f"unknown option {typed.split('=')[0]}" in message
    assert (f"did you mean {meant}?" in message) if meant else ("did you mean" not in message)


def test_refusals_say_what_is_wrong():
    assert "unknown format calgrind; did you mean callgrind?" in refused("--format=calgrind")
    assert "unknown option -t; did you mean --top?" in refused("-top")
    assert "unknown format svg; did you mean flamegraph?" in refused("--format=svg")
    assert "unknown format nonsense" in refused("--format", "nonsense")
    assert "two formats: top and tree" in refused("--top", "--tree")
    assert "--unit needs a value" in refused("--unit")
    assert 'unknown --unit "hours": ns, us, ms, s, ticks (' in refused("--unit=hours")
    assert 'unknown --weight "gold": time, calls, ' in refused("--weight=gold")
    assert 'unknown --clock "sun": user, system, real (' in refused("--clock=sun")
    assert 'unknown --as "yaml"' in refused("--top", "--as=yaml")
    assert 'unknown --sort "size": self, incl, ' in refused("--top", "--sort=size")
    assert "--max-depth takes a number from 1" in refused("--max-depth=0")
    assert "--max-depth takes a number from 1" in refused("--max-depth=12x")
    assert "--min-percent takes a number from 0 to 100" in refused("--min-percent=101")
    assert "--min-percent takes a number from 0 to 100" in refused("--min-percent=nan")
    assert "--min-percent takes a number from 0 to 100" in refused("--min-percent=0x10")
    assert "--strict takes no value" in refused("--strict=yes")
    assert "--tree takes no value" in refused("--tree=3")
    for table in "--top", "--patterns":
        assert f"{table} takes a number" in refused(f"{table}=many")
    assert "--brief takes no value (" in refused("--brief=yaml")
    assert "unknown option -x" in refused("-x")
    assert 'bad regular expression "(": ' in refused("--focus=(")
    assert "--check does not go with another" in refused("--stats", "--check")
    assert "--per-process needs -o FILE" in refused("--per-process", "--top")
    assert "--open means nothing for --top, only for callgrind, flamegraph, html, pprof, speedscope" in refused("--open", "--top")
    assert "read only once" in refused("-", "-")
    assert "the name tells no format" in refused("-o", "out.xyz")
    for mode in "--stats", "--check", "--dump":
        assert "csv is a format, and what is asked for" in refused(mode, "--csv")
        assert "json is a format, and what is asked for" in refused(mode, "-o", "x.json")
    assert "--focus means nothing for --by (" in refused("--by=label", "--focus=x")


def test_callers_and_callees_are_those_of_a_pattern(profile):
    for asked in (["--format=peek"], ["--format", "peek"], ["--format=peek", profile("mixed-calls2")]):
        assert "peek of which subs? --peek=REGEX" in refused(*asked)
    assert "--peek needs a value" in refused("--peek")
    assert good("--format=peek", "--peek=main::", profile("mixed-calls2")) == \
        good("--peek=main::", profile("mixed-calls2"))


# ---- spellings ----

def test_spellings_of_one_option(profile, tmp_path):
    file = profile("mixed-calls2")
    wanted = good("--callgrind", file)
    for spelling in (["-o", "-"], ["-o-"], ["--output", "-"], ["--output=-"]):
        assert good("--callgrind", *spelling, file) == wanted
    assert good("--format=callgrind", file) == wanted
    assert good("--format", "callgrind", "--callgrind", file) == wanted
    assert good(file, "--callgrind") == wanted
    assert good("-qo-", "--callgrind", file) == wanted


def test_after_two_dashes_all_is_a_file(profile, tmp_path):
    shutil.copy(profile("mixed-calls2"), tmp_path / "--top")
    assert b"mixed.pl: " in good("--top", "--", "--top", cwd=tmp_path)


def test_without_format_it_is_top(profile):
    file = profile("mixed-calls2")
    assert good(file) == good("--top", file)


def test_help_and_version_win():
    assert good("--stats", "--help") == good("--help") == good("-h")
    assert re.match(rb"nytp-export \d+\.\d+ \(compatible with Devel::NYTProf \d+\.\d+, "
                    rb"inflate by (ISA-L|zlib)\)\n$", good("-V"))
    assert b"usage: nytp-export" in good("--help")


def test_every_format_names_what_it_is_for():
    for line in good("--list-formats").decode().splitlines():
        assert line.endswith(":") or len(line.split()) >= 4


def test_the_readme_names_the_formats_that_count_a_wait_for_a_child_once():
    text = (ROOT / "exporters" / "README.md").read_text()
    named = re.search(r"^- ([^.]*?) count a\s+parent's wait", text, re.M)[1]
    once = {name for name, source in exporter_sources().items() if ".adds_processes = true" in source}
    assert set(re.findall(r"`--(\w+)`", named)) == once
