# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What a sampled program waits for, and with whom: planted programs that wait until they were seen to.

use lib 't/lib';
use NYTPTest;

use Config;
use Fcntl qw(:flock);
use IO::Socket::INET;
use POSIX ();

plan skip_all => 'here samples do not tell it' if !sees_waits();
my $export = root() . '/bin/nytp-export';
plan skip_all => 'nytp-export is not built' if !-x $export;
my $folder = new_dir();
my $libs = join ':', lib_dirs('ours'), $ENV{PERL5LIB} // ();
my $n_profiles = 0;

# How often the thread of ours that looks has come to look.
sub looks {
    my ($pid) = @_;
    my ($status) = grep {/^Name:\tnytp-ticks$/m} map { slurp($_) } glob "/proc/$pid/task/*/status";
    return ($status // '') =~ /^voluntary_ctxt_switches:\t(\d+)$/m ? $1 : 0;
}

# Runs a program under the profiler; $release, if given, is called when it has been seen waiting where it says that it is.
sub rows_of {
    my ($text, $release, @command) = @_;
    my $out = "$folder/" . ++$n_profiles . '.out';
    my $program = put("$folder/app.pl", "use strict; use warnings; $text");
    pipe my $ready, my $tell or die $!;
    my $pid = fork // die $!;
    if (!$pid) {
        POSIX::dup2(fileno $tell, 1);
        $ENV{NYTPROF} = "sample=1000:file=$out";
        $ENV{PERL5LIB} = $libs;
        exec @command, $^X, '-d:NYTProf', $program or POSIX::_exit(127);
    }
    close $tell;
    if ($release) {
        my $line = <$ready>; # it is about to wait
        ok await(sub { slurp("/proc/$pid/syscall") =~ /^\d/ }), 'it waits';
        my $before = looks($pid);
        ok await(sub { looks($pid) >= $before + 100 }), 'and is looked at';
        $release->($pid);
    }
    waitpid $pid, 0;
    is $?, 0, 'it ends well';
    my $table = qx{"$export" -q --waits=0 --unit=us $out};
    my ($all, $cpu, $waiting) = $table =~ /^([\d.]+) in all: ([\d.]+) on a processor, ([\d.]+) waiting/m;
    cmp_ok abs($cpu + $waiting - $all), '<=', 0.02 * $all, 'processor time and waiting are all the time' or diag $table;
    my %us;
    $us{ join ' ', grep {length} $2, $3 } += $1 while $table =~ /^ *([\d.]+) +[\d.]+% +\d+ (\S+) +(?:(\S+) +)?\S+:\d+$/mg;
    delete @us{ grep {/^other\b/} keys %us }; # for a processor, on a busy machine, also where the place is "(eval 7)[...]:1"
    my ($longest) = sort { $us{$b} <=> $us{$a} } keys %us;
    return wantarray ? ($longest, $table) : $longest // 'none';
}

my $READY = '$| = 1; print "ready\n"; ';

is rows_of('$SIG{USR1} = sub { }; ' . $READY . 'sleep 1000;', sub { kill USR1 => $_[0] }), 'sleep', 'sleep';
is rows_of('$SIG{USR1} = sub { }; ' . $READY . 'select undef, undef, undef, 1000;', sub { kill USR1 => $_[0] }), 'sleep', 'select without handles';

open my $lock, '>', "$folder/lock" or die $!;
flock $lock, LOCK_EX or die $!;
is rows_of("open my \$f, '>', '$folder/lock' or die; $READY flock \$f, 2 or die;", sub { flock $lock, LOCK_UN }), 'lock', 'flock';

my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die $!;
my $port = $server->sockport;
my $connection;
for my $how ('my $l = <$s>;', 'vec(my $r = "", fileno $s, 1) = 1; select $r, undef, undef, 1000;') {
    is rows_of("use IO::Socket::INET; my \$s = IO::Socket::INET->new(PeerAddr => '127.0.0.1:$port') or die; $READY $how",
        sub { $connection = $server->accept; print $connection "line\n"; close $connection }),
        "socket 127.0.0.1:$port", "a socket, with its other side: $how";
}

is rows_of("pipe my \$in, my \$out or die; \$SIG{USR1} = sub { close \$out }; $READY my \$l = <\$in>;", sub { kill USR1 => $_[0] }),
    'pipe', 'a pipe';
is rows_of("my \$pid = fork // die; if (!\$pid) { sleep 1000 } \$SIG{USR1} = sub { kill KILL => \$pid }; $READY waitpid \$pid, 0;",
    sub { kill USR1 => $_[0] }), 'child', 'a child';

# The program waits until it can be seen again what it waits for.
my $CLOSE_ALL = q{use POSIX (); POSIX::close($_) for 3 .. 5000; sub open_ones { map { readlink } glob '/proc/self/fd/*' }
    for (1 .. 2000) { last if grep { defined && m{/syscall$} } open_ones(); select undef, undef, undef, 0.005 } };
(undef, my $waits) = rows_of("$CLOSE_ALL; \$SIG{USR1} = sub { }; $READY sleep 1000;", sub { kill USR1 => $_[0] });
like $waits, qr/% +\d+ sleep /, 'of a program that closes all descriptors, as daemons do';

SKIP: {
    my ($unlock, $number_of) = (0x40045431, 0x80045430); # TIOCSPTLCK, TIOCGPTN
    open my $master, '+<', '/dev/ptmx' or skip 'no terminal to be had', 1;
    my $locked = my $number = pack 'i', 0;
    ioctl($master, $unlock, $locked) && ioctl($master, $number_of, $number) or skip 'no terminal to be had', 1;
    my $path = '/dev/pts/' . unpack 'i', $number;
    skip 'no terminal to be had', 1 if !-c $path;
    is rows_of("open my \$t, '<', '$path' or die; $READY my \$l = <\$t>;", sub { syswrite $master, "line\n" }), 'terminal', 'a terminal';
}

SKIP: {
    my $advise = {x86_64 => 221, aarch64 => 223}->{(POSIX::uname())[4]} or skip 'the number of fadvise64 is not known', 2;
    my $read = join '', map {"open \$f, '%s', '$folder/big' or die; syscall $advise, fileno \$f, 0, 0, 4; %s\n"} 1;
    open my $big, '>', "$folder/big" or die $!;
    print $big 'x' x (1 << 20) for 1 .. 16;
    $big->flush;
    $big->sync or skip 'this file system writes nothing', 2;
    my @table = (disk => '<', '1 while sysread $f, my $b, 1 << 20;', 'page-fault' => '<:mmap', 'local $/ = \65536; 1 while <$f>;');
    while (my ($reason, $layer, $how) = splice @table, 0, 3) {
        my ($longest, $table) = rows_of('for (1 .. 40) { my $f; ' . sprintf($read, $layer, $how) . '}');
        skip 'the page cache is not dropped here', 1 if !defined $longest;
        like $longest, qr/^\Q$reason\E/, $reason or diag $table;
    }
}

SKIP: {
    skip 'needs root', 1 if $> != 0 || system('unshare', '-mn', 'true') != 0;
    open my $fh, '>', "$folder/resolv.conf" or die $!;
    print $fh "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
    open $fh, '>', "$folder/lookup" or die $!;
    print $fh qq{mount --bind $folder/resolv.conf /etc/resolv.conf && ip link set lo up || exit 77\n},
        qq{exec $^X -MIO::Socket::INET -e '\$^F = 99; my \$s = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1:53") or exit 77; exec \@ARGV' "\$@"\n};
    close $fh or die $!;
    skip 'no namespaces here', 1 if system('unshare', '-mn', 'sh', "$folder/lookup", 'true') != 0;
    # musl's resolver sends from a socket that is connected to nobody.
    my $told = $Config{cc} =~ /musl/ ? qr/^socket$/ : qr/^dns 127\.0\.0\.1:53$/;
    like rows_of('my @a = gethostbyname "no.such.name.example";', undef, 'unshare', '-mn', 'sh', "$folder/lookup"),
        $told, 'a name look-up, with the server';
}

# The program's own descriptors have the numbers that they have without us.
my $plain = qx{$^X -e 'open my \$f, "<", "/dev/null"; print fileno \$f'};
{
    local $ENV{PERL5LIB} = $libs;
    local $ENV{NYTPROF} = "sample=1000:file=$folder/fd.out";
    is qx{$^X -d:NYTProf -e 'open my \$f, "<", "/dev/null"; print fileno \$f'}, $plain, 'the number of the next descriptor';
}

done_testing();
