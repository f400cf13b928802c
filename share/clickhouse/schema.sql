-- Tables for the rows of `nytp-export --rows`, one per stack and process. For ClickHouse 18.16 and later.
-- Run it on each server of the cluster "nytp" (cluster.xml), then insert into nytp.stacks on any of them:
--
--     nytp-export --rows --label host=$(hostname) nytprof.out.* |
--         clickhouse-client --query 'INSERT INTO nytp.stacks FORMAT JSONEachRow'
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
    perl         String,
    recorder     String,
    start        DateTime,
    start_ns     UInt32,          -- within the second
    duration_ns  UInt64,
    stack        Array(String),   -- the root first
    sub          String,          -- the last of stack
    file         String,
    line         UInt32,
    calls        UInt64,
    statements   UInt64,
    wall_ns      UInt64,          -- of the stack itself: sums count nothing twice
    flags        UInt8,           -- 1 never returned, 2 estimated, 4 the recording ends early
    stack_hash   UInt64 MATERIALIZED cityHash64(arrayStringConcat(stack, '\n'))
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
    perl         String,
    recorder     String,
    start        DateTime,
    start_ns     UInt32,
    duration_ns  UInt64,
    stack        Array(String),
    sub          String,
    file         String,
    line         UInt32,
    calls        UInt64,
    statements   UInt64,
    wall_ns      UInt64,
    flags        UInt8
)
ENGINE = Distributed(nytp, nytp, stacks_local, cityHash64(host));
