#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Story: twelve hosts run two releases of a program. Their profiles go into a ClickHouse cluster of
# three shards, which answers what no single profile can: which sub, which release, which host.
# The cluster lives on this machine's loopback and is stopped at the end. Needs Debian's
# clickhouse-server and clickhouse-client.
#
#     examples/fleet.sh [DIR]
set -eu
. "$(dirname "$0")/common.sh"
share=$root/share/clickhouse
for tool in clickhouse-server clickhouse-client; do
    command -v $tool >/dev/null || { echo "${0##*/}: $tool is not installed" >&2; exit 1; }
done

tell "Three servers"
# nine ports that are free, below those that the kernel gives to whoever asks for any: for clients, for HTTP and between servers
mapfile -t ports < <(perl -MIO::Socket::INET -MList::Util=shuffle -e '
    for (shuffle(10000 .. 30000)) {
        push @s, IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => $_) // next;
        last if @s == 9;
    }
    print $_->sockport, "\n" for @s')
cluster=$(sed -n '/<remote_servers>/,/<\/remote_servers>/p' "$share/cluster.xml" |
    sed "s/9001/${ports[0]}/; s/9002/${ports[1]}/; s/9003/${ports[2]}/")
pids=()
at_exit() { kill -9 "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; }
for shard in 0 1 2; do
    folder=$out/shard$shard
    mkdir -p "$folder/data" "$folder/tmp"
    cat >"$folder/users.xml" <<END
<yandex><profiles><default><insert_distributed_sync>1</insert_distributed_sync></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default/></quotas></yandex>
END
    cat >"$folder/config.xml" <<END
<yandex><logger><level>warning</level><log>$folder/log</log><errorlog>$folder/err</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>${ports[$shard]}</tcp_port>
<http_port>${ports[$((shard + 3))]}</http_port><interserver_http_port>${ports[$((shard + 6))]}</interserver_http_port>
<path>$folder/data/</path><tmp_path>$folder/tmp/</tmp_path><users_config>$folder/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>16777216</mark_cache_size>$cluster</yandex>
END
    (ulimit -t 120; cd "$folder"; exec clickhouse-server --config-file="$folder/config.xml" >/dev/null 2>&1) &
    pids+=($!)
done
ask() { # SHARD [OPTION]...: clickhouse-client
    HOME=$out clickhouse-client --host=127.0.0.1 --port="${ports[$1]}" "${@:2}"
}
for shard in 0 1 2; do
    for _ in {1..1200}; do
        if (exec 3<>"/dev/tcp/127.0.0.1/${ports[$shard]}") 2>/dev/null; then break; fi
        sleep 0.05
    done
    cat "$share/schema.sql" "$share/distributed.sql" | ask $shard --multiquery
done
echo "listening: 3 shards"

tell "Twelve hosts, two releases"
cat >"$out/shop.pl" <<'END'
sub price { my $sum = 0; for (1 .. $_[0]) { $sum += $_ } $sum } sub cart { price($_[0]) for 1 .. 10 }
cart($ARGV[0]) for 1 .. 20;
END
for host in {1..12}; do
    release=$([ $((host % 2)) = 0 ] && echo new || echo old)
    work=$([ $release = new ] && echo 60 || echo 40)
    [ $host != 7 ] || work=15000 # one of them has much to do
    recording "$out/h$host.out" "savesrc=0" "$out/shop.pl" "$work"
    "$nytp_export" --rows --trim-path "$out/" --label host=h$host --label release=$release --label service=shop \
        "$out/h$host.out" | ask 0 --query "INSERT INTO nytp.stacks FORMAT JSONEachRow"
done
query() { # NAME: one of queries.sql
    sed -n "/^-- name: $1\$/,/;\$/p" "$share/queries.sql" | sed 's/;$//'
}
query total | ask 1 --format=Vertical | sed -n '/hosts\|processes\|statements/p'

tell "Which sub? Statements of the whole fleet"
query self | ask 2 | cut -f1,3,4 | head -3

tell "Which release? The label tells, per process"
query releases | ask 1 | cut -f1,4 | head -1

tell "Which host? The middle, the slowest twentieth, the worst"
query hosts | ask 1 | head -1 | cut -f1,5

tell "Is it what nytp-export adds up itself?"
fleet=$(query total | ask 0 | cut -f1,3)
files=$("$nytp_export" --json "$out"/h*.out | perl -MJSON::PP -0777 -ne '
    my $p = decode_json($_); print "$p->{total}\t$p->{statements}"')
[ "$fleet" = "$files" ] && echo "The sums are equal to the nanosecond."

tell "A flame graph of all hosts"
query flame | ask 0 | tr '\t' ' ' >"$out/fleet.folded"
wc -l <"$out/fleet.folded" | sed 's/$/ stacks in fleet.folded, for flamegraph.pl and speedscope/'
