# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""html: names and source that are no plain text stay what they are: markup, scripts, control characters, bytes
that are no UTF-8, every character there is.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import hostile  # noqa: E402
import htmlpages  # noqa: E402
from reports import command, run  # noqa: E402,F401


NASTY = ["</script><script>xss()</script>", '"><img src=x onerror=xss()>', "' onmouseover='xss()", "]]>", "-->",
         "javascript:xss()", "`${xss()}`", "\u2028\u2029", "\u202eevil\u202c", "a\x00b", "\x1b[31m", "&lt;b&gt;",
         "../../etc/passwd", "\\..\\x", "=cmd|' /C calc'!A0", "%3Cscript%3E", "x" * 10000, "\ufeff", "a;b c\td"]


@pytest.fixture(scope="module")
def nasty_profile(tmp_path_factory):
    """Every nasty text as sub, caller, file, eval, attribute, option, application and source."""
    path = tmp_path_factory.mktemp("nasty") / "nasty.out"
    path.write_bytes(hostile.names_everywhere([t.encode("utf-8", "surrogatepass") for t in NASTY] +
                                              [b"\xff\xfe\x80", b"caf\xe9::\xe9", b"\xed\xa0\x80"]))
    return path


def test_hostile_texts_stay_texts(command, nasty_profile, tmp_path):
    folder = tmp_path / "deep" / "r"
    folder.parent.mkdir()
    done = run(command, "--html", "-q", "-o", f"{folder}/", "--title", NASTY[0], "--focus", "<b>|x", nasty_profile)
    assert done.returncode == 0, done.stderr
    pages = htmlpages.Report(folder)
    assert list(htmlpages.problems(pages)) == []
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == pages.names
    assert max(len(n.encode()) for n in pages.names) <= 255
    for page in pages.pages.values():
        scripts = page.root.elements("script")
        assert [s.get("src") for s in scripts] == ["report.js"] and scripts[0].text() == ""
    shown = "".join(p.root.text() for p in pages.pages.values())
    for text in ("</script><script>xss()</script>", '"><img src=x onerror=xss()>', "a␀b", "⟨U+202E⟩evil"):
        assert text in shown, text
    for svg in ("all_stacks_by_time.svg",):
        root = xml.etree.ElementTree.parse(folder / svg).getroot()
        assert {e.tag.rpartition("}")[2] for e in root.iter()} <= {"svg", "g", "a", "rect", "title", "text"}
        assert not [a for e in root.iter() for a in e.attrib if a.startswith("on")]
    data = (folder / "flame.js").read_text()
    assert "<" not in data and json.loads(data[len("nytp.flame("):-3])["names"]


def shown_character(code):
    """What a page shows of a character of a source line."""
    if code == 9:
        return "\t"
    if code < 32 or code == 127:
        return chr(0x2400 + code if code < 32 else 0x2421)
    if 0x80 <= code < 0xa0 or code in (0x61c, 0x200e, 0x200f, 0xfeff) or 0x2028 <= code <= 0x202e or \
            0x2066 <= code <= 0x2069 or 0xfdd0 <= code <= 0xfdef or code & 0xfffe == 0xfffe:
        return f"⟨U+{code:04X}⟩"
    return chr(code)


def test_every_character_comes_through(command, tmp_path):
    """Each character of Unicode, and each byte that is none, as source and in an attribute."""
    codes = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000 and c not in (10, 13)]
    lines = [codes[i:i + 2000] for i in range(0, len(codes), 2000)]
    stream = hostile.Writer().pid_start(77)
    stream.fid(1, b"/x/" + "".join(map(chr, range(1, 256))).encode())
    for number, line in enumerate(lines, 1):
        stream.source(1, number, "".join(map(chr, line)).encode() + b"\n")
    stream.source(1, len(lines) + 1, bytes(range(0x80, 0x100)) + b"\n").time(5, 1, 1)
    path = tmp_path / "all.out"
    path.write_bytes(stream.pid_end(77).data())
    assert run(command, "--html", "-q", "-o", f"{tmp_path}/r/", path).returncode == 0
    pages = htmlpages.Report(tmp_path / "r")
    shown = next(p for n, p in pages.pages.items() if n.endswith("-line.html")).lines()
    for number, line in enumerate(lines, 1):
        text = shown[number][-1].own_text().rstrip("\n")
        assert text == "".join(map(shown_character, line)), hex(line[0])
    assert shown[len(lines) + 1][-1].own_text().rstrip("\n") == \
        "".join(shown_character(c) for c in range(0x80, 0x100))
    title = pages.pages["index.html"].table("files")[0][3].get("title")
    assert title == "/x/" + "".join(shown_character(c) if c not in (10, 13) else chr(0x2400 + c)
                                    for c in range(1, 256))


def test_one_file_holds_hostile_texts_safely(command, nasty_profile):
    done = run(command, "--html", "-q", nasty_profile)
    page = htmlpages.Page(done.stdout.decode("utf-8"))
    assert done.returncode == 0
    scripts = page.root.elements("script")
    assert [s.get("type") for s in scripts] == [None, "application/json"]
    assert json.loads(scripts[1].text())["names"]
    assert len(page.root.elements("style")) == 1
