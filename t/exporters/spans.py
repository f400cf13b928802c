# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What the time lines of a trace and of a Firefox profile show under labels."""

import collections
import json

from command import good


def slices(events):
    """{(pid, tid): (its name or None, [(name, start, end)])} in nanoseconds, in order of time."""
    tracks = collections.defaultdict(lambda: [None, []])
    for event in events:
        track = tracks[event["pid"], event["tid"]]
        if event["ph"] == "X":
            ends = [round(1000 * at) for at in (event["ts"], event["ts"] + event["dur"])]
            track[1].append((event["name"], *ends))
            assert (event["cat"] == "label") == (track[0] is not None)
        elif event["name"] == "thread_name":
            track[0] = event["args"]["name"]
    return tracks


def trace(*arguments):
    """The calls, and {key: spans}, of a trace with one process."""
    calls, spans = [], {}
    for name, found in slices(json.loads(good("--chrome-trace", "-q", *arguments))["traceEvents"]).values():
        if name is None:
            calls += found
        else:
            spans[name] = found
    return calls, spans


def markers(*arguments):
    """{key: spans} of the first thread of a Firefox profile, in nanoseconds."""
    thread = json.loads(good("--firefox", "-q", *arguments))["threads"][0]
    table, spans = thread["markers"], collections.defaultdict(list)
    for i in range(table["length"]):
        assert table["phase"][i] == 1 and table["data"][i]["type"] == "label"
        spans[thread["stringArray"][table["name"][i]]].append(
            (table["data"][i]["value"], round(table["startTime"][i] * 1e6), round(table["endTime"][i] * 1e6)))
    return dict(spans)
