# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""doc/pprof-servers.md: its lines run, and send what they say, to a recorder in a server's place."""

import email.parser
import email.policy
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import urllib.parse

import pytest

from command import COMMAND, ROOT, good
from recordings import record

DOCUMENT = ROOT / "doc" / "pprof-servers.md"


def blocks():
    """The indented blocks of the page."""
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE)
            for block in re.findall(r"(?:^    .*\n)+", DOCUMENT.read_text(), re.MULTILINE)]


@pytest.fixture
def listener():
    """A server that keeps what it is sent."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, dict(self.headers), body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *unused):
            pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1], requests
    server.shutdown()
    server.server_close()


def test_start_and_end_are_seconds(profile):
    text = good("--stats", profile("forks-merged")).decode()
    times = {key: float(value) for key, value in re.findall(r"^(start|end) +([\d.]+)$", text, re.MULTILINE)}
    processes = json.loads(good("--json", profile("forks-merged")))["processes"]
    assert times["start"] == pytest.approx(min(one["start"] for one in processes), abs=1e-5)
    assert times["end"] == pytest.approx(max(one["end"] for one in processes), abs=1e-5)


def test_the_lines_for_pyroscope_send_the_file(listener, tmp_path):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    port, requests = listener
    record(tmp_path, "sub f { 1 } f() for 1..9;", out="nytprof.out")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nytp-export").symlink_to(COMMAND)
    script = "".join(blocks()[:3]).replace("nytprof.out.*", "nytprof.out").replace("HOST:4040", f"127.0.0.1:{port}")
    assert script.count("curl") == 1
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, check=False,
                          timeout=600, env=dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}"))
    assert done.returncode == 0, done.stderr
    (path, headers, body), = requests
    url = urllib.parse.urlsplit(path)
    query = urllib.parse.parse_qs(url.query)
    stats = good("--stats", tmp_path / "nytprof.out").decode()
    start = float(re.search(r"^start +(\S+)", stats, re.MULTILINE)[1])
    end = float(re.search(r"^end +(\S+)", stats, re.MULTILINE)[1])
    assert url.path == "/ingest" and query["name"] == ["app{host=h1}"] and query["format"] == ["pprof"]
    assert int(query["from"][0]) <= start <= end <= int(query["until"][0])
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
        f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode() + body)
    parts = {part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
             for part in message.iter_parts()}
    assert parts["profile"] == (tmp_path / "app.pb.gz").read_bytes()
    types = json.loads(parts["sample_type_config"])
    assert set(types) == {"wall", "calls", "statements"}
    assert b"release" in gzip.decompress(parts["profile"])
