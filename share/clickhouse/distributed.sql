-- The tables of schema.sql over all servers of the cluster "nytp" (cluster.xml). Run it once on each of them, after
-- schema.sql; then insert and ask on any. What a server holds itself is stacks_local and labels_local.

RENAME TABLE nytp.stacks TO nytp.stacks_local, nytp.labels TO nytp.labels_local;

CREATE TABLE nytp.stacks
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
    svs          Int64,
    kept_svs     UInt64,
    alloc_objects UInt64,
    alloc_space  UInt64,
    inuse_objects UInt64,
    inuse_space  UInt64,
    flags        UInt8
)
ENGINE = Distributed(nytp, nytp, stacks_local, cityHash64(host));

CREATE TABLE nytp.labels
(
    host         String,
    service      String,
    release      String,
    application  String,
    start        DateTime,
    label_key    String,
    label_value  String,
    slowest_sub  String,
    n            UInt64,
    ns           UInt64
)
ENGINE = Distributed(nytp, nytp, labels_local, cityHash64(host));
