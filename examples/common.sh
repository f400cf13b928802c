# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What the stories share; they source it. Needs the built project, see quickstart.sh.
#
#     $examples, $nytp_export, $out    folders and the command; $out is a fresh folder for files
#     recording FILE OPTIONS PROGRAM…  run a Perl program under the profiler
#     become_recording …               the same, in place of this shell: in the background its
#                                      process is $!
#     at_exit                          what else is done when the story ends; define it anew

examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$examples")
nytp_export=$root/bin/nytp-export

if [ ! -x "$nytp_export" ] || [ ! -d "$root/blib/arch/auto/Devel/NYTProf" ]; then
    echo "${0##*/}: not built yet: run $examples/quickstart.sh first" >&2
    exit 1
fi

at_exit() { :; }
if [ -n "${1:-}" ]; then
    mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 1
    trap at_exit EXIT
else
    out=$(mktemp -d)
    trap 'at_exit; rm -rf "$out"' EXIT
fi

become_recording() {
    export NYTPROF="file=$1${2:+:$2}"
    shift 2
    exec perl -I"$root/blib/lib" -I"$root/blib/arch" -d:NYTProf "$@"
}

recording() { (become_recording "$@"); }

tell() { printf '\n# %s\n' "$*"; }
