-- Tables for `nytp-export --rows`, one row per stack and process, and `--rows --by=label`, one per label and length.
-- For ClickHouse 18.16 and later. All that one server needs:
--
--     clickhouse-client --multiquery < schema.sql
--     nytp-export --rows --label host=$(hostname) nytprof.out.* |
--         clickhouse-client --query 'INSERT INTO nytp.stacks FORMAT JSONEachRow'
--     nytp-export --rows --by=label --label host=$(hostname) nytprof.out.* |
--         clickhouse-client --query 'INSERT INTO nytp.labels FORMAT JSONEachRow'
--
-- Where several servers share the rows, run it on each, and then distributed.sql.
--
-- Tables made before there were the columns thread and cpu_ns, svs and kept_svs, alloc_objects to inuse_space take rows of threads, samples,
-- memory=1 and memory=512k after this, on each server, for stacks (with distributed.sql for stacks_local and then for stacks):
--
--     ALTER TABLE nytp.stacks ADD COLUMN thread UInt32 AFTER ppid, ADD COLUMN cpu_ns UInt64 AFTER wall_ns,
--         ADD COLUMN svs Int64 AFTER cpu_ns, ADD COLUMN kept_svs UInt64 AFTER svs,
--         ADD COLUMN alloc_objects UInt64 AFTER kept_svs, ADD COLUMN alloc_space UInt64 AFTER alloc_objects,
--         ADD COLUMN inuse_objects UInt64 AFTER alloc_space, ADD COLUMN inuse_space UInt64 AFTER inuse_objects
--
-- A row of stacks that is inserted again replaces itself: when parts are merged, or at once where a query says FINAL.

CREATE DATABASE IF NOT EXISTS nytp;

CREATE TABLE IF NOT EXISTS nytp.stacks
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
    svs          Int64,           -- with memory=1: perl's values made less freed, likewise,
    kept_svs     UInt64,          -- and what each context kept of them
    alloc_objects UInt64,         -- with memory=512k and libnytp-malloc.so: blocks and bytes that were allocated,
    alloc_space  UInt64,          -- estimated from samples, likewise,
    inuse_objects UInt64,         -- and of these what was not freed before the end
    inuse_space  UInt64,
    flags        UInt8,           -- 1 never returned, 2 estimated, 4 the recording ends early, 8 sampled: statements
                                  -- are samples, and there were as many calls or more; 16 counts only: no times
    stack_hash   UInt64 MATERIALIZED cityHash64(
                     arrayStringConcat(stack, '\n'), arrayStringConcat(files, '\n'), toString(lines))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(start)
ORDER BY (service, application, sub, start, profile, stack_hash, flags);

CREATE TABLE IF NOT EXISTS nytp.labels
(
    host         String,
    service      String,          -- --label service=...
    release      String,          -- --label release=...
    application  String,
    start        DateTime,        -- of the recording
    label_key    String,          -- DB::label(KEY => VALUE); --group makes one of many values
    label_value  String,
    slowest_sub  String,          -- of this label in this recording
    n            UInt64,          -- so many stretches
    ns           UInt64           -- of about this length each (0.2 %)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(start)
ORDER BY (service, application, label_key, label_value, start, host);
