# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""A ClickHouse cluster of three shards on loopback, for as long as a `with` block lasts."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import ports

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE = ROOT / "share" / "clickhouse"
SHARDS = 3
BOUND = 120      # seconds of processor that a server may use before it is ended

CONFIG = """<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/err</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{inter}</interserver_http_port>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>16777216</mark_cache_size><max_concurrent_queries>20</max_concurrent_queries>
  {cluster}
</yandex>
"""
USERS = """<yandex>
  <profiles><default><insert_distributed_sync>1</insert_distributed_sync><max_threads>1</max_threads>
    <connect_timeout>2</connect_timeout><connect_timeout_with_failover_ms>2000</connect_timeout_with_failover_ms></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></default></users>
  <quotas><default/></quotas>
</yandex>
"""


def missing():
    return [name for name in ("clickhouse-server", "clickhouse-client") if not shutil.which(name)]


def queries():
    """name -> statement of share/clickhouse/queries.sql."""
    text = (SHARE / "queries.sql").read_text()
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {name: statement.strip().rstrip(";") for name, statement in zip(parts[::2], parts[1::2])}


class Cluster:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        given = ports.free_ports(3 * SHARDS)
        self.tcp = given[:SHARDS]
        self.http, self.inter = given[SHARDS:2 * SHARDS], given[2 * SHARDS:]
        self.servers = []

    def cluster_xml(self):
        """The shipped file with our ports."""
        text = (SHARE / "cluster.xml").read_text()
        for number, port in enumerate(self.tcp, 1):
            assert f"<port>900{number}</port>" in text
            text = text.replace(f"<port>900{number}</port>", f"<port>{port}</port>")
        return re.search(r"<remote_servers>.*</remote_servers>", text, re.DOTALL)[0]

    def __enter__(self):
        try:
            for number in range(SHARDS):
                self.start(number)
            for number in range(SHARDS):
                self.wait(number)
                for name in ("schema.sql", "distributed.sql"):
                    self.ask((SHARE / name).read_text(), shard=number, multiquery=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, number):
        folder = self.folder / f"shard{number}"
        for name in ("data", "tmp"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "config.xml").write_text(CONFIG.format(
            folder=folder, http=self.http[number], tcp=self.tcp[number],
            inter=self.inter[number], cluster=self.cluster_xml()))
        (folder / "users.xml").write_text(USERS)
        self.servers.append(subprocess.Popen(
            ["bash", "-c", f'ulimit -t {BOUND}; exec "$@"', "bash", "clickhouse-server",
             f"--config-file={folder}/config.xml"], cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def wait(self, number):
        end = time.monotonic() + 600
        while time.monotonic() < end:
            if self.servers[number].poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.tcp[number])) == 0:
                    return
            time.sleep(0.05)     # a server says nowhere that it is ready
        errors = self.folder / f"shard{number}" / "err"
        raise RuntimeError("clickhouse-server does not start: " +
                           (errors.read_text()[-500:] if errors.exists() else "no message"))

    def stop(self, number, kill=False):
        (self.servers[number].kill if kill else self.servers[number].terminate)()
        try:
            self.servers[number].wait(20)
        except subprocess.TimeoutExpired:
            self.servers[number].kill()
            self.servers[number].wait()

    def __exit__(self, *unused):
        for number in range(len(self.servers)):
            if self.servers[number].poll() is None:
                self.stop(number, kill=True)     # what it holds is thrown away

    def client(self, shard=0):
        return ["clickhouse-client", "--host=127.0.0.1", f"--port={self.tcp[shard]}"]

    def try_asking(self, statement, shard=0, multiquery=False, data=None, settings=()):
        command = [*self.client(shard), *(f"--{one}" for one in settings)]
        if data is None:
            command += ["--multiquery"] if multiquery else []
            data = statement.encode()
        else:
            command += ["--query", statement]
        return subprocess.run(command, input=data, capture_output=True, check=False, timeout=600,
                              env=dict(os.environ, HOME=str(self.folder)))

    def ask_by_http(self, statement, shard=0):
        """The status, and the first field of the answer or the text of the error."""
        url = f"http://127.0.0.1:{self.http[shard]}/?wait_end_of_query=1"
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(url, data=statement.encode(), timeout=600) as answer:
                return answer.status, answer.read().decode().split("\t")[0]
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def ask(self, statement, **options):
        """Rows of tab-separated texts."""
        done = self.try_asking(statement, **options)
        assert done.returncode == 0, done.stderr.decode()[-800:]
        return [line.split("\t") for line in done.stdout.decode().splitlines()]
