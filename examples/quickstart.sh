#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# From a fresh clone to a profile in every viewer:
#
#     examples/quickstart.sh [DIR]
#
# installs what is missing (Debian packages, as root; otherwise it says what to install), builds,
# profiles examples/logreport.pl, exports the profile to every format into DIR (quickstart-out)
# and says how to open each file.
set -eu
examples=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$examples")
out=${1:-$root/quickstart-out}

say() { printf '\n== %s\n' "$*"; }
fail() {
    echo "quickstart.sh: $*" >&2
    exit 1
}

# what must be there, and the Debian package that has it; ISA-L only makes reading faster
needs() {
    cat <<'NEEDS'
cc                        build-essential
make                      build-essential
/usr/include/zlib.h       zlib1g-dev
/usr/include/pcre2.h      libpcre2-dev
/usr/include/isa-l.h      libisal-dev
perl                      perl
perl.h                    libperl-dev
NEEDS
}

have() {
    case $1 in
    perl.h) perl -MConfig -e 'exit !-e "$Config{archlibexp}/CORE/perl.h"' 2>/dev/null ;;
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing_packages() {
    needs | while read -r what package; do
        have "$what" || echo "$package"
    done | sort -u | tr '\n' ' '
}

install_missing() {
    local missing
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ]; then
        [ "$missing" != "libisal-dev " ] || return 0
        fail "please install what is missing, then run this again:
    sudo apt-get install --no-install-recommends $missing"
    fi
    command -v apt-get >/dev/null || fail "no apt-get here; please install: $missing"
    say "installing $missing"
    apt-get update -q >/dev/null || true
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing \
        >"$out/apt.log" 2>&1 || tail -5 "$out/apt.log" >&2
    missing=$(missing_packages)
    [ -z "$missing" ] || [ "$missing" = "libisal-dev " ] || fail "could not install $missing"
}

step() { # what, command…: its output is shown when it fails
    local what=$1
    shift
    say "$what: $*"
    (cd "$root" && "$@") >"$out/build.log" 2>&1 || {
        tail -30 "$out/build.log" >&2
        fail "$what failed"
    }
}

# The first of a format's file name suffixes, "callgrind.out*" being a prefix.
file_for() {
    local format=$1 pattern=$2
    case $pattern in
    '') echo "$format.txt" ;;
    .*) echo "logreport$pattern" ;;
    *) echo "${pattern%\*}.logreport" ;;
    esac
}

formats() { # format, first suffix
    "$nytp_export" --list-formats | awk '
        /^[^ ]/ { output = ($1 == "Output:") }
        output && /^ / {
            suffix = ""
            if (match($0, /\([^()]*\)$/)) {
                n = split(substr($0, RSTART + 1, RLENGTH - 2), list, " ")
                suffix = list[1]
                for (i = 1; i <= n; i++)
                    if (list[i] ~ /\*$/)
                        suffix = list[i]
            }
            print $1, suffix
        }'
}

how_to_open() {
    case $1 in
    callgrind) echo "kcachegrind $2  (apt-get install kcachegrind)" ;;
    pprof) echo "go tool pprof -http=: $2  (apt-get install golang-go graphviz)" ;;
    pprof-text) echo "any editor: pprof's message as text" ;;
    speedscope) echo "drop it on https://www.speedscope.app (nothing is uploaded), or: npx speedscope $2" ;;
    collapsed) echo "flamegraph.pl --countname=us $2 > flame.svg" ;;
    chrome-trace) echo "open it in https://ui.perfetto.dev (nothing is uploaded)" ;;
    firefox) echo "load it in https://profiler.firefox.com (nothing is uploaded)" ;;
    json) echo "jq -r '.subs | sort_by(-.exclusive)[:10][] | [.exclusive, .name] | @tsv' $2" ;;
    csv) echo "any spreadsheet" ;;
    html) echo "any browser: source with times, flame graph, who calls whom (xdg-open $2)" ;;
    flamegraph) echo "any browser: a flame graph with zoom and search (xdg-open $2)" ;;
    cpuprofile) echo "VS Code (code $2), or Chrome's DevTools: Performance, Load profile" ;;
    massif) echo "ms_print $2 (apt-get install valgrind), or massif-visualizer" ;;
    quickfix) echo "vim -q $2, or emacs: M-x compile, cat $2" ;;
    tmon) echo "dprofpp $2 (cpanm Devel::DProf)" ;;
    save-base) echo "nytp export --diff=$2 nytprof.out: what has changed since" ;;
    rows) echo "clickhouse-local, or any engine that reads JSON lines: share/clickhouse/" ;;
    *) echo "less -S $2" ;;
    esac
}

mkdir -p "$out"
out=$(cd "$out" && pwd)
install_missing
nytp_export=$root/bin/nytp-export
step "exporter" make -j2 -C exporters
step "configure" perl Makefile.PL
step "profiler" make -j2

say "profiling examples/logreport.pl"
(
    cd "$out"
    NYTPROF=file=$out/nytprof.out \
        perl -I"$root/blib/lib" -I"$root/blib/arch" -d:NYTProf "$examples/logreport.pl" >report.txt
)
"$nytp_export" --top=5 "$out/nytprof.out"

say "every format"
opening=
while read -r format suffix; do
    file=$(file_for "$format" "$suffix")
    if [ "$format" = html ]; then
        file=report/index.html
        perl -I"$root/blib/lib" "$root/bin/nytprofhtml" -f "$out/nytprof.out" -o "$out/report" --delete >/dev/null
    elif [ "$format" = peek ]; then # asks for subs by a pattern
        "$nytp_export" "--peek=main::" -o "$out/$file" "$out/nytprof.out"
    else
        "$nytp_export" "--format=$format" --source-dir="$out/sources" -o "$out/$file" "$out/nytprof.out"
    fi
    opening+=$(printf '%-28s %s' "$file" "$(how_to_open "$format" "$file")")$'\n'
done < <(formats)
if command -v flamegraph.pl >/dev/null; then
    flamegraph.pl --countname=us "$out/logreport.folded" >"$out/flame.svg"
    opening+="flame.svg                    any browser"$'\n'
fi

say "in $out"
printf '%s' "$opening"
rm -f "$out/build.log"
