#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Installs what the tests need and is missing: Debian packages when run as root, and the npm
# packages into t/.cache/node. Otherwise says what to install. Ends with 0 when all is there.
set -u
cd "$(dirname "$0")/.."

# what must exist (a command, a file, "py:MODULE", "pm:MODULE") and the package that has it
mkdir -p t/.cache

needs='
cc                                    build-essential
make                                  build-essential
/usr/include/zlib.h                   zlib1g-dev
/usr/include/pcre2.h                  libpcre2-dev
/usr/include/isa-l/igzip_lib.h        libisal-dev
/usr/include/valgrind/callgrind.h     valgrind
/usr/lib/x86_64-linux-gnu/libjemalloc.so.2  libjemalloc2
/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4  libtcmalloc-minimal4
valgrind                              valgrind
callgrind_annotate                    valgrind
perl                                  perl
pgrep                                 procps
pm:ExtUtils::MakeMaker                perl
/usr/lib/x86_64-linux-gnu/perl/5.36/CORE/perl.h  libperl-dev
/usr/lib/x86_64-linux-gnu/libperl.so  libperl-dev
pm:Devel::NYTProf::Core               libdevel-nytprof-perl
pm:Devel::DProf                       libdevel-dprof-perl
pm:Devel::Size                        libdevel-size-perl
pm:Perl::Tidy                         perltidy
pm:Perl::Critic                       libperl-critic-perl
pm:DBD::SQLite                        libdbd-sqlite3-perl
pm:Plack                              libplack-perl
pm:Mojolicious                        libmojolicious-perl
starman                               starman
spamassassin                          spamassassin
latexml                               latexml
faketime                              faketime
exiftool                              libimage-exiftool-perl
pm:Test::LeakTrace                    libtest-leaktrace-perl
pm:Coro                               libcoro-perl
pm:Module::CPANTS::Analyse             libmodule-cpants-analyse-perl
pm:Future::AsyncAwait                 libfuture-asyncawait-perl
pm:Object::Pad                        libobject-pad-perl
pm:Scope::Upper                       libscope-upper-perl
pm:Syntax::Keyword::Dynamically       libsyntax-keyword-dynamically-perl
pm:Syntax::Keyword::Try               libsyntax-keyword-try-perl
pm:Variable::Magic                    libvariable-magic-perl
py:pytest                             python3-pytest
py:jsonschema                         python3-jsonschema
py:google.protobuf                    python3-protobuf
py:gi                                 python3-gi
/usr/libexec/at-spi-bus-launcher      at-spi2-core
protoc                                protobuf-compiler
go                                    golang-go
kcachegrind                           kcachegrind
Xvfb                                  xvfb
xdotool                               xdotool
import                                imagemagick
dbus-run-session                      dbus
dot                                   graphviz
chromium-headless-shell               chromium-headless-shell
pdftotext                             poppler-utils
tidy                                  tidy
curl                                  curl
clickhouse-server                     clickhouse-server
clickhouse-client                     clickhouse-client
/usr/lib/apache2/modules/mod_perl.so  libapache2-mod-perl2
node                                  nodejs
npm                                   npm
clang                                 clang
ccache                                ccache
/usr/sbin/setcap                      libcap2-bin
valgrind                              valgrind
xz                                    xz-utils
zsh                                   zsh
vim                                   vim
nvim                                  neovim
emacs                                 emacs-nox
cpanm                                 cpanminus
carton                                carton
dpkg-buildpackage                     dpkg-dev
dh                                    debhelper
lintian                               lintian
'
npm_packages='speedscope@1.25.0 axe-core@4.14.1 pprof-format@2.3.2 @firefox-devtools/profiler-cli@0.10.0
    chrome-devtools-frontend@1.0.1705227 esbuild@0.28.2 @duckdb/node-api@1.5.6-r.1'
node=t/.cache/node

have() {
    case $1 in
    py:*) /usr/bin/python3 -c "import ${1#py:}" 2>/dev/null ;;
    pm:*) perl -e '(my $f = shift) =~ s{::}{/}g; exit !grep { -e "$_/$f.pm" } @INC' "${1#pm:}" ;;
    */perl.h) perl -MConfig -e 'exit !-e "$Config{archlibexp}/CORE/perl.h"' ;;
    /*) [ -e "$1" ] || [ -e "${1/x86_64/$(uname -m)}" ] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing_packages() {
    while read -r what package; do
        [ -z "$what" ] || have "$what" || echo "$package"
    done <<<"$needs" | sort -u | tr '\n' ' '
}

missing=$(missing_packages)
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "t/deps.sh: installing $missing"
        apt-get update -q >/dev/null
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing \
            >t/.cache/apt.log 2>&1 || tail -5 t/.cache/apt.log >&2
        missing=$(missing_packages)
    else
        echo "t/deps.sh: not root, so please run: sudo apt-get install --no-install-recommends $missing" >&2
    fi
fi

npm_missing() {
    for package in $npm_packages; do
        [ -e "$node/node_modules/${package%@*}/package.json" ] || echo "$package"
    done
}

if [ -n "$(npm_missing)" ] && have npm; then
    mkdir -p "$node"
    # shellcheck disable=SC2086
    npm install --silent --no-audit --no-fund --prefix "$node" $npm_packages >"$node/npm.log" 2>&1 ||
        tail -5 "$node/npm.log" >&2
fi

[ -z "$missing" ] || echo "t/deps.sh: still missing: $missing" >&2
[ -z "$(npm_missing)" ] || echo "t/deps.sh: still missing from npm: $(npm_missing)" >&2
[ -z "$missing$(npm_missing)" ]
