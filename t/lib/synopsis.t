# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The SYNOPSIS of each module runs as it stands, in a folder with a profile called nytprof.out.

use lib 't/lib';
use Recorded qw(put record folder slurp in_folder);

use Cwd qw(getcwd);

my %said = (
    Constants => qr/\A\z/,
    Data => qr/\Asynopsis\.pl ran \d+\.\d+ s\n *\d\.\d+ s main::/,
    Export => qr/^main::RUNTIME;main::f \d+$/m,
    FileInfo => qr/^ 1 .*synopsis\.pl: \d+\.\d+ s$/m,
    Object => qr{\A5\.\d+\S*\n\S+/NYTProf\.so\n\z},
    ReadStream => qr/^chunk 0 is the first VERSION: 5 0$/m,
    Reader => qr/\A\z/,
    Recording => qr/^hello\n.*hello\.out holds 1 processes$/ms,
    RequestAnswer => qr/\A\z/,
    Requests => qr/\A\z/,
    Run => qr/\A3\n\z/,
    SubCallInfo => qr/^main::f: 3 calls from line 2$/m,
    SubInfo => qr/^main::f \(perl\): 3 calls, \d+\.\d+ s$/m,
    Util => qr/\A12\xc2\xb5s\nusr-lib-Foo-pm\n\z/,
);

my $profile = record('synopsis', "sub f { return 1 }\nf() for 1 .. 3;\n");
rename $profile, folder() . '/nytprof.out' or die;
my $top = getcwd();
local $ENV{PERL5LIB} = join ':', map {"$top/blib/$_"} qw(lib arch);
local $ENV{NYTP_EXPORT} = "$top/bin/nytp-export";

my @modules = sort map {m{([^/]+)\.pm\z}} glob 'lib/Devel/NYTProf/*.pm';
# these load the profiler, or are of one command only
@modules = grep { !/^(?:Core|Apache|Startup)$/ } @modules;
for my $module (@modules) {
    my $pod = slurp("lib/Devel/NYTProf/$module.pm");
    my ($synopsis) = $pod =~ /^=head1 SYNOPSIS\n\n(.*?)^=head1/ms;
    ok(defined $synopsis, "Devel::NYTProf::$module has a SYNOPSIS") or next;
    SKIP: {
        skip 'bin/nytp-export is not built', 2 if $module eq 'Export' && !-x 'bin/nytp-export';
        put("$module.pl", "use strict;\nuse warnings FATAL => 'all';\n$synopsis");
        my $text = in_folder(sub { scalar qx{$^X $module.pl 2>&1} });
        is($?, 0, "$module: it runs") or diag $text;
        like($text, $said{$module} || qr/\A./, "$module: and prints what it should");
    }
}
is_deeply([grep { !exists $said{$_} } @modules], [], 'all modules are known here');
like(slurp(folder() . '/report/' . (in_folder(sub { (glob 'report/*')[0] }) =~ s{.*/}{}r)),
    qr/synopsis\.pl\n    1 \d\.\d+ sub f \{ return 1 \}\n/, 'the report of Reader is there');

done_testing();
