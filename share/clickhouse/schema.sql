-- Tables for the rows of `nytp-export --rows`, one per stack and process. For ClickHouse 18.16 and later.
-- Run it on each server of the cluster "nytp" (cluster.xml), then insert into nytp.stacks on any of them:
--
--     nytp-export --rows --label host=$(hostname) nytprof.out.* |
--         clickhouse-client --query 'INSERT INTO nytp.stacks FORMAT JSONEachRow'
--
-- Tables made before there were the columns thread and cpu_ns take rows of threads and samples after this, on each
-- server, for stacks_local and then for stacks:
--
--     ALTER TABLE nytp.stacks_local ADD COLUMN thread UInt32 AFTER ppid, ADD COLUMN cpu_ns UInt64 AFTER wall_ns
--
-- A row that is inserted again replaces itself: when parts are merged, or at once where a query says FINAL.

CREATE DATABASE IF NOT EXISTS nytp;

CREATE TABLE IF NOT EXISTS nytp.stacks_local
(
    profile      String,          -- of host, pid, start and application: the same for a process each time
    host         String,
    service      String,          -- --label service=...
    label_keys   Array(String),   -- all labels; labels are arrays since maps are not in every version
    label_values Array(String),
    application  String,
    script       String,          -- application without folders
    pid          UInt32,
    ppid         UInt32,
    thread       UInt32,          -- 0: the first of its process
    perl         String,
    recorder     String,
    start        DateTime,
    start_ns     UInt32,          -- within the second
    duration_ns  UInt64,
    stack        Array(String),   -- the root first
    files        Array(String),   -- with --lines: where each frame was, the call or the statement;
    lines        Array(UInt32),   -- else empty
    sub          String,          -- the last of stack
    file         String,          -- where it is defined; with --lines where the statement is
    line         UInt32,
    calls        UInt64,
    statements   UInt64,
    wall_ns      UInt64,          -- of the stack itself: sums count nothing twice
    cpu_ns       UInt64,          -- of a sampled process: processor time, likewise
    flags        UInt8,           -- 1 never returned, 2 estimated, 4 the recording ends early, 8 sampled: statements
                                  -- are samples, and there were as many calls or more
    stack_hash   UInt64 MATERIALIZED cityHash64(
                     arrayStringConcat(stack, '\n'), arrayStringConcat(files, '\n'), toString(lines))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(start)
ORDER BY (service, application, sub, start, profile, stack_hash, flags);

CREATE TABLE IF NOT EXISTS nytp.stacks
(
    profile      String,
    host         String,
    service      String,
    label_keys   Array(String),
    label_values Array(String),
    application  String,
    script       String,
    pid          UInt32,
    ppid         UInt32,
    thread       UInt32,
    perl         String,
    recorder     String,
    start        DateTime,
    start_ns     UInt32,
    duration_ns  UInt64,
    stack        Array(String),
    files        Array(String),
    lines        Array(UInt32),
    sub          String,
    file         String,
    line         UInt32,
    calls        UInt64,
    statements   UInt64,
    wall_ns      UInt64,
    cpu_ns       UInt64,
    flags        UInt8
)
ENGINE = Distributed(nytp, nytp, stacks_local, cityHash64(host));
