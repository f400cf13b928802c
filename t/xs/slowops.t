# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# perl's slow builtins as calls: names for slowops=0, 1 and 2, every opcode of the list.

use lib 't/lib';
use NYTPTest;

# Statement => opcodes that it must show. Statements run inside eval { } in a scratch folder.
my @OPS = (
    [ q{my $x = `true`},                                     'backtick' ],
    [ q{my @x = glob('*')},                                  'glob' ],
    [ q{open my $f, '<', $0; my $x = <$f>; close $f},        'open readline close' ],
    [ q{open F, q(<), $0; our $x = q(); $x .= <F>},        'open rcatline' ],
    [ q{my $r = 'a'; 'abc' =~ /$r/},                         'regcomp match' ],
    [ q{'abc' =~ /b/},                                       'match' ],
    [ q{my $r = qr/b/},                                      'qr' ],
    [ q{(my $s = 'abc') =~ s/b/x/},                          'subst' ],
    [ q{(my $s = 'abc') =~ s/(b)/uc $1/e},                   'subst substcont' ],
    [ q{formline '@<<', 1},                                  'formline' ],
    [ q{my $v = q(a); my $x = crypt $v, q(bc)},                            'crypt' ],
    [ q{my @x = unpack 'N', "\0\0\0\1"},                     'unpack' ],
    [ q{my $v = 7; my $x = pack 'N', $v},                    'pack' ],
    [ q{my @x = sort @ARGV, 2, 1},                           'sort' ],
    [ q{my $old = umask},                                    'umask' ],
    [ q{binmode STDERR},                                     'binmode' ],
    [ q{my $x = select STDOUT},                              'select' ],
    [ q{select undef, undef, undef, 0},                      'sselect' ],
    [ q{open my $f, '<', $0; my $x = getc $f},               'getc' ],
    [ q{open my $f, '<', $0; read $f, my $b, 3},             'read' ],
    [ q{open STDOUT, '>', 'fmt'; write},                     'open enterwrite leavewrite' ],
    [ q{open my $f, '>', 'o'; printf $f 'x'; print $f 'x'},  'open prtf print' ],
    [ q{use feature 'say'; open my $f, '>', 'o'; say $f 'x'}, 'open say' ],
    [ q{sysopen my $f, $0, 0; sysseek $f, 1, 0; sysread $f, my $b, 2}, 'sysopen sysseek sysread' ],
    [ q{open my $f, '>', 'o'; syswrite $f, 'x'},             'open syswrite' ],
    [ q{open my $f, '<', $0; eof $f; tell $f; seek $f, 0, 0}, 'open eof tell seek' ],
    [ q{open my $f, '+>', 'o'; truncate $f, 0},              'open truncate' ],
    [ q{open my $f, '<', $0; my $x = fcntl $f, 1, 0; ioctl $f, 0, my $b; flock $f, 8}, 'fcntl ioctl flock' ],
    [ q{socket my $s, 2, 1, 0; bind $s, 'x'; connect $s, 'x'; listen $s, 1; shutdown $s, 2}, 'socket bind connect listen shutdown' ],
    [ q{socket my $s, 2, 2, 0; send $s, 'x', 0, 'x'},        'send' ],
    [ q{recv STDIN, my $b, 1, 0},                            'recv' ],
    [ q{socket my $s, 2, 1, 0; getsockopt $s, 1, 2; setsockopt $s, 1, 2, 1; getsockname $s; getpeername $s}, 'gsockopt ssockopt getsockname getpeername' ],
    [ q{my @x = lstat $0; @x = stat $0},                     'lstat stat' ],
    [ q{my $x; $x = -R $0; $x = -W $0; $x = -X $0},          'ftrread ftrwrite ftrexec' ],
    [ q{my $x; $x = -r $0; $x = -w $0; $x = -x $0},          'fteread ftewrite fteexec' ],
    [ q{my $x; $x = -e $0; $x = -s $0; $x = -M $0; $x = -A $0; $x = -C $0}, 'ftis ftsize ftmtime ftatime ftctime' ],
    [ q{my $x; $x = -O $0; $x = -o $0; $x = -z $0; $x = -S $0; $x = -c $0; $x = -b $0}, 'ftrowned fteowned ftzero ftsock ftchr ftblk' ],
    [ q{my $x; $x = -f $0; $x = -d $0; $x = -p $0; $x = -u $0; $x = -g $0; $x = -k $0; $x = -l $0}, 'ftfile ftdir ftpipe ftsuid ftsgid ftsvtx ftlink' ],
    [ q{my $x; $x = -t STDIN; $x = -T $0; $x = -B $0},       'fttty fttext ftbinary' ],
    [ q{mkdir 'd'; chdir 'd'; chdir '..'; chmod 0700, 'd'; rename 'd', 'e'; rmdir 'e'}, 'mkdir chdir chmod rename rmdir' ],
    [ q{chown -1, -1, 'nosuch'; utime 1, 1, 'nosuch'; unlink 'nosuch'}, 'chown utime unlink' ],
    [ q{link $0, 'l'; symlink $0, 's'; my $x = readlink 's'}, 'link symlink readlink' ],
    [ q{opendir my $d, '.'; my $x = readdir $d; my $p = telldir $d; seekdir $d, $p; rewinddir $d; closedir $d}, 'open_dir readdir telldir seekdir rewinddir closedir' ],
    [ q{wait; waitpid -1, 1; system 'true'; sleep 0},        'wait waitpid system sleep' ],
    [ q{shmget 1, -1, 0; shmctl -1, 0, 0},                   'shmget shmctl' ],
    [ q{my $b = ''; shmread -1, $b, 0, 1; shmwrite -1, 'x', 0, 1}, 'shmread shmwrite' ],
    [ q{msgget 1, 0; msgctl -1, 0, 0; msgsnd -1, "\0" x 9, 0; msgrcv -1, my $b, 1, 0, 0}, 'msgget msgctl msgsnd msgrcv' ],
    [ q{semget 1, 0, 0; semctl -1, 0, 0, 0; semop -1, "\0" x 6}, 'semget semctl semop' ],
    [ q{my @x = gethostbyname 'localhost'; @x = gethostbyaddr "\x7f\0\0\1", 2}, 'ghbyname ghbyaddr' ],
    [ q{my @x = getprotobyname 'tcp'; @x = getprotobynumber 6; @x = getprotoent; setprotoent 0; endprotoent}, 'gpbyname gpbynumber gprotoent sprotoent eprotoent' ],
    [ q{my @x = getservbyname 'http', 'tcp'; @x = getservbyport 80, 'tcp'; @x = getservent; setservent 0; endservent}, 'gsbyname gsbyport gservent sservent eservent' ],
    [ q{my @x = getnetbyname 'lo'; @x = getnetent; setnetent 0; endnetent}, 'gnbyname gnetent snetent enetent' ],
    [ q{my @x = gethostent; sethostent 0; endhostent},       'ghostent shostent ehostent' ],
    [ q{my @x = getpwnam 'root'; @x = getpwuid 0; @x = getpwent; setpwent; endpwent}, 'gpwnam gpwuid gpwent spwent epwent' ],
    [ q{my @x = getgrnam 'root'; @x = getgrgid 0; @x = getgrent; setgrent; endgrent}, 'ggrnam ggrgid ggrent sgrent egrent' ],
    [ q{my $x = getlogin},                                   'getlogin' ],
    [ q{syscall 39},                                         'syscall' ],
    [ q{my $l; lock $l},                                     'lock' ],
    [ q{chroot 'nosuch'},                                    'chroot' ],
    [ q{dbmopen my %h, '/nosuch/x', 0600},                   'dbmopen' ],
);

# Not slowops, though some are slow.
my @NOT = qw(exec fork exit kill sprintf split trans time require dofile tie entereval pipe_op);

my $code = "package Pk;\nformat STDOUT =\n.\n" . join '', map { "eval { $_->[0] };\n" } @OPS;
$code .= "{ my \$x = sprintf '%s', 1; my \@x = split /,/, 'a'; (my \$y = 'a') =~ tr/a/b/; time; }\n";
my $first_line = 4;

sub ops_by_line {
    my ($p, $pattern) = @_;
    my %by;
    for my $arc (@{ $p->{arc} }) {
        $by{ $arc->{line} }{$1} += $arc->{count} if $arc->{callee} =~ $pattern;
    }
    return \%by;
}

for my $case ([2, qr/^Pk::CORE:(\w+)$/], [1, qr/^CORE::(\w+)$/]) {
    my ($n, $pattern) = @$case;
    for my $more ('', ':use_db_sub=1', ':leave=0:calls=2:compress=0', ':blocks=1') {
        scenario "slowops=$n$more" => sub {
            my $run = run_prog(code => $code, opts => "slowops=$n$more");
            is $run->{signal}, 0, 'ran';
            my $p = whole_in($run, 'sums');
            my $by = ops_by_line($p, $pattern);
            for my $i (0 .. $#OPS) {
                my ($statement, $ops) = @{ $OPS[$i] };
                my @missing = grep { !$by->{ $first_line + $i }{$_} } split ' ', $ops;
                is "@missing", '', $statement;
            }
            my %seen = map { $_ => 1 } map { keys %$_ } values %$by;
            is join(' ', grep { $seen{$_} } @NOT), '', 'what is no slowop';
            is join(' ', grep { !$p->{sub}{$_} && !/^Pk::CORE:wait/ } map { $_->{callee} } grep { $_->{callee} =~ $pattern } @{ $p->{arc} }), '', 'each has its SUB_INFO'
              if $n == 2;
            my @unmarked = grep { !$p->{marker}{$_} } map { $_->{callee} }
              grep { $_->{callee} =~ $pattern && $_->{callee} !~ /dbmopen/ } @{ $p->{arc} };
            is "@unmarked", '', 'each has its marker';
        };
    }
}

scenario 'slowops=0' => sub {
    my $p = whole_in(run_prog(code => $code, opts => 'slowops=0'), 'sums');
    is join(' ', grep { /CORE/ } map { $_->{callee} } @{ $p->{arc} }), '', 'none';
};

scenario 'the list covers the opcodes' => sub {
    my %have = map { $_ => 1 } map { split ' ', $_->[1] } @OPS;
    $have{$_} = 1 for qw(dump accept dbmclose gnbyaddr);    # dump ends the process; accept: control.t
    my @all = split ' ', <<'LIST';
backtick glob readline rcatline regcomp match qr subst substcont formline crypt unpack pack sort
dump open close umask binmode dbmopen dbmclose sselect select getc read enterwrite leavewrite prtf
print say sysopen sysseek sysread syswrite eof tell seek truncate fcntl ioctl flock send recv
socket bind connect listen accept shutdown gsockopt ssockopt getsockname getpeername lstat stat
ftrread ftrwrite ftrexec fteread ftewrite fteexec ftis ftsize ftmtime ftatime ftctime ftrowned
fteowned ftzero ftsock ftchr ftblk ftfile ftdir ftpipe ftsuid ftsgid ftsvtx ftlink fttty fttext
ftbinary chdir chown chroot unlink chmod utime rename link symlink readlink mkdir rmdir open_dir
readdir telldir seekdir rewinddir closedir wait waitpid system sleep shmget shmctl shmread
shmwrite msgget msgctl msgsnd msgrcv semop semget semctl ghbyname ghbyaddr ghostent gnbyname
gnbyaddr gnetent gpbyname gpbynumber gprotoent gsbyname gsbyport gservent shostent snetent
sprotoent sservent ehostent enetent eprotoent eservent gpwnam gpwuid gpwent spwent epwent ggrnam
ggrgid ggrent sgrent egrent getlogin syscall lock
LIST
    is scalar @all, 148, '148 opcodes';
    is join(' ', grep { !$have{$_} } @all), '', 'each has a statement here';
};

scenario 'a pack that perl has folded is a call, of none' => sub {
    is_deeply [arc_lines(profile_in(run_prog(code => 'my $x = pack "A1", "a";')), ops => 1)], ['main::NULL 1 main::CORE:pack x1'], 'arcs';
};

scenario 'findcaller=1 names perl\'s running sub, never a slowop' => sub {
    my $run = run_prog(opts => 'findcaller=1', code => <<'P');
sub key { $_[0] }
sub bycmp { key($a) <=> key($b) }
my @s = sort bycmp 2, 1;
package H; sub TIEHANDLE { bless [], shift } sub PRINT { 1 }
tie *FH, 'H';
print FH 1;
P
    my $p = profile_in($run);
    is join('; ', arc_lines($p, want => qr/key|PRINT/)),
      'main::RUNTIME 6 H::PRINT x1; main::bycmp 2 main::key x2', 'arcs';
};

scenario 'accept() waits as any other builtin does' => sub {
    my $run = run_prog(code => <<'P');
use Socket; use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
socket my $server, AF_UNIX, SOCK_STREAM, 0 or die $!;
bind $server, sockaddr_un('here') and listen $server, 1 or die $!;
my $pid = fork;
if (!$pid) {
    select undef, undef, undef, 0.3;
    socket my $client, AF_UNIX, SOCK_STREAM, 0; connect $client, sockaddr_un('here');
    require POSIX; POSIX::_exit(0);
}
sub serve { my $from = clock_gettime(CLOCK_MONOTONIC); accept my $one, $server; print clock_gettime(CLOCK_MONOTONIC) - $from }
serve();
waitpid $pid, 0;
P
    my ($arc) = arcs_to(profile_in($run), 'main::CORE:accept');
    # Chance: 1e-9 (a third of a second passes between a clock and the builtin beside it, once in this run)
    cmp_ok 2 * $arc->{excl} + 0.02, '>=', $run->{out}, 'the builtin has its wait';
    cmp_ok $arc->{excl}, '<=', $run->{out} * 1.01, 'and no more';
};

done_testing;
