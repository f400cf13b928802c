# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Ports for servers that the tests start."""

import pathlib
import random
import socket


def free_ports(n):
    """So many of this machine's that are free. They lie below those that the kernel gives to whoever asks for any: they are so until
    the server takes them."""
    given = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
    end = int(given.read_text().split()[0]) if given.exists() else 32768
    found = []
    for port in random.sample(range(min(10000, end // 2), end), k=min(end // 2, 5000)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == n:
            return found
    raise OSError(f"{len(found)} of {n} free ports below {end}")
