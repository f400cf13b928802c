# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The tarball that runs where it is unpacked, packed from this build, and nytp doctor in it. That its parts are built for
# other systems is seen by packaging/relocatable/try.

use lib 't/lib';
use NYTPTest qw(user_scenario);
use Extended;
use Recorded qw(folder put slurp);

use Config;
use Cwd ();
use File::Copy ();
use Devel::NYTProf::Object;

my $root = Cwd::getcwd();
my $auto = "$root/blib/arch/auto/Devel/NYTProf";
plan skip_all => 'for Linux, with a recorder that no sanitizer needs' if !-e "$auto/libnytp-malloc.so" || NYTPTest::sanitized();
my $folder = folder();
chdir $folder or die "$folder: $!";
chmod 0755, $folder; # for an ordinary user
$ENV{PATH} = "$folder/perl:$ENV{PATH}";
delete @ENV{qw(PERL5LIB PERL5OPT NYTPROF NYTP_EXPORT)};
mkdir 'perl' or die $!;
symlink $^X, 'perl/perl' or die $!; # the first in PATH
my $kind = Devel::NYTProf::Object::kind();

# Everything that a command says, and its exit status.
sub says {
    my ($command) = @_;
    my $said = qx{( $command ) 2>&1 </dev/null};
    return ($? >> 8) . " $said";
}
sub copy { File::Copy::copy(@_[0, 1]) or die "$_[1]: $!"; chmod 0755, $_[1]; return }
mkdir $_ or die $! for 'parts', "parts/$kind", 'other', 'tools';
copy("$auto/$_", "parts/$kind/$_") for qw(NYTProf.so libnytp-malloc.so);
copy("$root/bin/$_", "parts/$_") for qw(nytp-export nytp-spy);
system('strip', glob 'parts/*/* parts/nytp-*') == 0 or die 'strip'; # quicker to compress
my $said = says("$root/packaging/relocatable/pack parts .");
my ($tarball) = $said =~ m{\A0 (/\S+/nytp-[\d.]+-linux-\w+\.tar\.gz)\n\z} or BAIL_OUT($said);
system("tar -C tools -xzf $tarball && mv tools/nytp-* tools/nytp && chmod -R a-w tools/nytp") == 0 or die 'tar';
my $nytp = "$folder/tools/nytp/bin/nytp";
my $lib  = 'tools/nytp/lib';
put('app.pl', "sub work { my \$n = shift; \$n += \$_ for 1 .. 1000; return \$n } work(\$_) for 1 .. 50; system \$^X, '-e', 'sub child { 1 } child()';\n");

user_scenario 'the same parts make the same bytes' => sub {
    my $first = slurp($tarball);
    is says("touch parts/*; umask 077; $root/packaging/relocatable/pack parts other"), "0 $folder/other/" . $tarball =~ s{.*/}{}r . "\n", 'again';
    ok slurp('other/' . $tarball =~ s{.*/}{}r) eq $first, 'later, by one who shares nothing';
};

user_scenario 'it runs where it is unpacked' => sub {
    like says("$nytp run -o p.out app.pl"), qr/\A0 .* 50 +\S+ us .*main::work .*recorded in/s, 'nytp run, without any variable set';
    like says("$nytp export -q --top p.out"), qr/main::child/, 'a perl that the program starts is recorded, too';
    symlink "$folder/tools/nytp/bin/nytp", 'link' or die $!;
    ok -r "tools/nytp/share/nytp/editors/$_", "for editors: $_" for qw(vim/plugin/nytp.vim emacs/nytp.el vscode/extension.js);
    like says('./link export --version'), qr/\A0 nytp-export/, 'by a symbolic link';
    like says("$nytp run -q --memory -o m.out app.pl"), qr/\A0 \z/, 'the library for memory is found';
    like says("PERL5LIB='$lib' perl -d:NYTProf=file=d.out app.pl && $nytp export -q --top d.out"), qr/\A0 .*main::work/s, 'perl -d:NYTProf';
    like says("$nytp prove --nytp-help"), qr/\A0 .*nytp prove/s, 'a command written in Perl';
};

user_scenario 'the kind of a perl' => sub {
    like $kind, qr/\A5\.\d+(?:-\w+)*\z/, $kind;
    my @built = map { $Config{"use$_"} ? 1 : 0 } qw(threads longdouble);
    is_deeply [ map { $kind =~ /-$_\b/ ? 1 : 0 } qw(thread ld) ], \@built, 'tells threads and long doubles';
    no warnings 'redefine';
    my ($version) = $kind =~ /\A([\d.]+)/;
    for (['USE_LONG_DOUBLE', "$version-ld"], ['MULTIPLICITY USE_ITHREADS', "$version-thread-multi"], ['USE_QUADMATH DEBUGGING', "$version-quadmath-debugging"]) {
        my ($words, $is) = @$_;
        local *Internals::V = sub { return (" HAS_TIMES $words USE_PERLIO", ' PERL_PRESERVE_IVUV') };
        is Devel::NYTProf::Object::kind(), $is, $words;
    }
};

# The doctor names what shell words before its command planted. Obstacles are pairs: the name, the words that are said.
sub names {
    my ($before, %obstacles) = @_;
    $before .= " sh $nytp doctor" if $before !~ /doctor;/;
    my $said = says($before);
    like $said, qr/\A1 (?:.*\n)*nytp $obstacles{$_}/, "the doctor names $_" for sort keys %obstacles;
    return;
}
sub is_above { return $> == 0 && system('unshare', '-m', 'true') == 0 }
is says("$nytp doctor"), "0 nothing keeps nytp from working here\n", 'the doctor, where nothing is in the way';

# The filter of seccomp(2): load the number, compare, refuse with EPERM, allow.
my %numbers_of = ('x86_64' => [157, 310], 'aarch64' => [167, 270]); # prctl, process_vm_readv
user_scenario 'a filter of system calls, as containers have it' => sub {
    my ($prctl, $readv) = @{ $numbers_of{ $Config{archname} =~ s/-.*//r } or plan skip_all => 'another processor' };
    put('filtered', qq(my \$code = pack '(SCCL)*', 0x20, 0, 0, 0, 0x15, 0, 1, $readv, 0x06, 0, 0, 0x50001, 0x06, 0, 0, 0x7fff0000;
        syscall($prctl, 38, 1, 0, 0, 0) == 0 && syscall($prctl, 22, 2, pack('S x6 P', 4, \$code), 0, 0) == 0 or die \$!; exec \@ARGV));
    is says("perl filtered perl -e 'print syscall $readv, \$\$, 0, 0, 0, 0, 0'"), '0 -1', 'refuses process_vm_readv()';
    is says("perl filtered $nytp doctor"), "0 nothing keeps nytp from working here\n", 'keeps nothing from working: spy reads the file in /proc';
};

my $all   = 'run, prove, compare, startup, ctl:';
my $write = 'spy record, export --open: no file can be written into';

user_scenario 'what a user meets' => sub {
    names('ulimit -f 0;', 'a limit of files' => qr/run, prove, compare: a profile may have no more than 0 blocks.*; ulimit -f/);
    mkdir 'few' or die $!;
    symlink qx{sh -c 'command -v $_'} =~ s/\n//r, "few/$_" or die for qw(sh sed head rm mktemp uname id cat wc dirname mkfifo);
    names('PATH=few', 'a perl that is missing' => qr/$all there is no perl; install perl; nytp export and nytp spy do without/);
    rename 'tools', 'my tools' or die $!;
    names("sh 'my tools/nytp/bin/nytp' doctor;",
        'a path that ld.so splits' => qr/run --memory: .*LD_PRELOAD.*; move nytp to a folder whose path has no blank/);
    rename 'my tools', 'tools' or die $!;
    my $elf = slurp('parts/nytp-export');
    substr $elf, 18, 2, "\x2a\x00"; # of a SuperH
    chmod 0755, 'tools/nytp/bin', 'tools/nytp/bin/nytp-export';
    put('tools/nytp/bin/nytp-export', $elf);
    names(
        'TMPDIR=/no/where PERL5OPT=-d:Trace',
        'a program for another machine' => qr/export: \S.*nytp-export cannot be executed \(\w+\); move nytp .*take the one for this machine/,
        'another debugger'              => qr/$all PERL5OPT=-d:Trace loads a debugger already; unset PERL5OPT/,
        'a folder that is missing'      => qr{$write /no/where; set TMPDIR},
    );
    copy('parts/nytp-export', 'tools/nytp/bin/nytp-export');
};

subtest 'no recorder fits' => sub {
    my $auto = "$lib/auto/Devel/NYTProf";
    chmod 0755, $auto, "$auto/$kind";
    rename "$auto/$kind", "$auto/5.8-ld" or die $!;
    my $sentence = qr/no recorder is here for this perl \(\Q$kind\E\); here are those for 5\.8-ld: run it with another perl/;
    my $calls = 'BEGIN { DB::enable_profile() } sub f { return caller } f(); DB::label(a => 1); DB::finish_profile(); print "ran $^P"; exit 3';
    for my $start ("-d:NYTProf -e '$calls'", "-MDevel::NYTProf -e '$calls'") {
        like says("PERL5LIB='$lib' perl $start"), qr/\A3 Devel::NYTProf: the program runs unprofiled: $sentence[^\n]*\nran 0\z/,
            "the program runs all the same, and is told why it is unprofiled: $start";
    }
    put('test.t', 'print "1..1\nok 1\n"');
    like says("$nytp prove test.t"), qr/\A0 .*PASS.*nytp-prove: nothing was recorded\n\z/s, 'nytp prove runs the tests, and says that nothing was recorded';
    like says("$nytp startup app.pl"), qr/\A4 .*: $sentence(?!.*Undefined).*\nnytp-startup: [^\n]*\n\z/s, 'nytp startup says it, too';
    mkdir 'empty' or die $!;
    my ($before, $lacking) = is_above() ? (qq(unshare -m sh -c 'mount --bind empty "\$0" && "\$@"' $Config{archlibexp}/CORE), qr/.*; building lacks .*perl\.h/) : ('', qr//);
    names($before, 'it' => qr/$all $sentence$lacking/);
    rename "$auto/5.8-ld", "$auto/$kind" or die $!;
};

subtest 'what only root can plant' => sub {
    plan skip_all => 'needs root' if !is_above();
    mkdir 'closed' or die $!;
    copy($^X, 'closed/perl');
    chmod 0711, 'closed/perl';
    names(
        "PATH=$folder/closed:\$PATH setpriv --reuid=65534 --regid=65534 --clear-groups",
        'a folder where nothing can be written' => qr/run, prove: no profile can be written into \Q$folder\E; choose another file: nytp run -o FILE/,
        'a perl that may not be read'           => qr{spy: you may not read \S+/closed/perl, so the kernel closes .*\nnytp spy: process \d+ .*: use sudo},
    );
    names(
        q(unshare -m sh -c 'mount -t tmpfs -o size=4k none /mnt && ! head -c 9999 /dev/zero 2>/dev/null >/mnt/x; TMPDIR=/mnt "$@"' -),
        'a full file system' => qr{compare, startup, $write /mnt; set TMPDIR to a folder with room},
    );
    names(
        q(unshare -m sh -c 'mount --bind tools tools && mount -o remount,bind,noexec tools && "$@"' -),
        'a file system that executes nothing' => qr/export: .*cannot be executed .*; move nytp to a file system that is not mounted noexec/,
    );
    my ($modules) = qx{$^X -MApp::Prove -e 'print \$INC{"App/Prove.pm"}'} =~ m{\A(.*)/};
    names(
        qq(setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace unshare -m sh -c 'mount --bind empty "\$0" && "\$@"' $modules),
        'a right that root lacks'  => qr/spy: root has no CAP_SYS_PTRACE here: .*; docker run --cap-add SYS_PTRACE; Kubernetes/,
        'a module that is missing' => qr{prove: Can't locate App/Prove\.pm in \@INC; install all of perl \(Debian: perl},
    );
    mkdir 'other user' or die $!;
    copy($^X, 'other user/perl');
    chown 65534, -1, 'other user/perl' or die $!;
    chmod 04755, 'other user/perl';
    my $yama = '/proc/sys/kernel/yama';
    names(
        "PATH='$folder/other user':\$PATH unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel && mkdir $yama && echo 1 >$yama/ptrace_scope && "
            . 'exec setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$@"\' -',
        'yama, or what it cannot see in a container' => qr/spy: (?:yama allows only parents .*use sudo, or sysctl|this container may not .* --cap-add SYS_PTRACE)/,
    ) if qx{'other user/perl' -e 'print \$>'} eq '65534';
    names(q(unshare -m sh -c 'mount -t tmpfs none /proc && "$@"' -), 'a /proc that is missing' => qr{spy: /proc is not there, .*mount -t proc});
};

chdir $root;
system "chmod -R u+w $folder/tools";
done_testing;
