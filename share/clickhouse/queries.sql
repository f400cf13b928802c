-- Questions about a fleet. Each is introduced by a line "-- name: NAME"; times are ns.
-- When a shard cannot be reached, clickhouse-client ends with an error, but may have printed what the
-- other shards had before: an answer is whole only when the exit status is 0. By HTTP, ?wait_end_of_query=1
-- holds the answer back until it is whole.

-- name: total
SELECT sum(wall_ns) AS wall_ns, sum(calls) AS calls, sum(statements) AS statements,
       uniqExact(host) AS hosts, uniqExact(profile) AS processes
FROM nytp.stacks;

-- name: self
-- The subs with the most time of their own.
SELECT sub, sum(wall_ns) AS self_ns, sum(calls) AS calls, sum(statements) AS statements
FROM nytp.stacks
GROUP BY sub ORDER BY self_ns DESC, sub LIMIT 20;

-- name: inclusive
-- With what they call; a sub that is on a stack several times counts once.
SELECT name, sum(wall_ns) AS incl_ns
FROM (SELECT arrayJoin(arrayDistinct(stack)) AS name, wall_ns FROM nytp.stacks)
GROUP BY name ORDER BY incl_ns DESC, name LIMIT 20;

-- name: releases
-- Two releases, by the label "release"; per process, since there may be more of one than of the other.
SELECT sub,
       sumIf(wall_ns, release = 'old') / old_processes AS old_ns,
       sumIf(wall_ns, release = 'new') / new_processes AS new_ns,
       sumIf(statements, release = 'new') / new_processes - sumIf(statements, release = 'old') / old_processes AS more_statements
FROM (SELECT sub, wall_ns, statements, label_values[indexOf(label_keys, 'release')] AS release, 1 AS one FROM nytp.stacks)
ANY LEFT JOIN
(
    SELECT 1 AS one, uniqExactIf(profile, label_values[indexOf(label_keys, 'release')] = 'old') AS old_processes,
           uniqExactIf(profile, label_values[indexOf(label_keys, 'release')] = 'new') AS new_processes
    FROM nytp.stacks
) USING one
GROUP BY sub, old_processes, new_processes
ORDER BY abs(more_statements) DESC, sub LIMIT 20;

-- name: hosts
-- How a sub's time spreads over hosts: the middle, the slowest twentieth, and the worst host.
SELECT sub, quantileExact(0.5)(ns) AS p50_ns, quantileExact(0.95)(ns) AS p95_ns, max(ns) AS max_ns,
       argMax(host, ns) AS worst_host
FROM (SELECT sub, host, sum(wall_ns) AS ns FROM nytp.stacks GROUP BY sub, host)
GROUP BY sub ORDER BY p95_ns DESC, sub LIMIT 20;

-- name: flame
-- For flamegraph.pl and speedscope: clickhouse-client --format TSVRaw, tab becomes a blank.
SELECT arrayStringConcat(arrayMap(f -> replaceAll(replaceAll(f, ';', ':'), ' ', '_'), stack), ';') AS folded,
       sum(wall_ns) AS ns
FROM nytp.stacks
GROUP BY folded HAVING ns > 0 ORDER BY folded;

-- name: lately
-- What came in during the last day, by host.
SELECT host, uniqExact(profile) AS processes, sum(wall_ns) AS wall_ns
FROM nytp.stacks WHERE start > now() - 86400
GROUP BY host ORDER BY host;

-- name: labels
-- What each label takes over the fleet (rows of --rows --by=label): how often, the middle, the slowest twentieth, and on
-- which host the slowest was, with the sub that took most there.
SELECT label_key, label_value, sum(n) AS times, quantileExactWeighted(0.5)(ns, n) AS p50_ns,
       quantileExactWeighted(0.95)(ns, n) AS p95_ns, argMax(host, ns) AS worst_host, argMax(slowest_sub, ns) AS slowest
FROM nytp.labels
GROUP BY label_key, label_value ORDER BY label_key, p95_ns DESC, label_value LIMIT 20 BY label_key;

-- name: svs
-- What keeps perl's values, of processes with NYTPROF=memory=1: the sum, the middle of those that keep some, and the worst.
SELECT sub, sum(kept) AS kept_svs, quantileExact(0.5)(kept) AS p50_kept, max(kept) AS max_kept, argMax(host, kept) AS worst_host
FROM (SELECT sub, host, profile, sum(kept_svs) AS kept FROM nytp.stacks GROUP BY sub, host, profile HAVING kept > 0)
GROUP BY sub ORDER BY kept_svs DESC, sub LIMIT 20;

-- name: bytes
-- What has memory in use at the end, of processes of nytp run --memory: the sum, the middle of those that have some, the worst, and how
-- much the sub allocated.
SELECT sub, sum(inuse) AS inuse_space, quantileExact(0.5)(inuse) AS p50_inuse, max(inuse) AS max_inuse, argMax(host, inuse) AS worst_host,
       sum(alloc) AS alloc_space
FROM (SELECT sub, host, profile, sum(inuse_space) AS inuse, sum(alloc_space) AS alloc
      FROM nytp.stacks GROUP BY sub, host, profile HAVING inuse > 0)
GROUP BY sub ORDER BY inuse_space DESC, sub LIMIT 20;
