# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Programs that perl or the system trusts less than others, or more: with -T, set-user-ID, with two
# users, with capabilities.

use lib 't/lib';
use NYTPTest;
use Extended;

use Config;
use Fcntl qw(O_RDONLY O_NONBLOCK);
use File::Copy qw(copy);
use constant NOBODY => 65534;

my @OURS = ours();
my $CODE = <<'P';
sub f { my $sum = 0; $sum += $_ for 1 .. 1000; return $sum }
f() for 1 .. 20;
eval 'sub g { f() } g()';
print join ' ', ${^TAINT}, map { sprintf '%s %o', $_, (stat)[2] & 07777 } grep { -S } 'ctl';
P
my @KINDS = ('', 'sample=1000', 'control=ctl', 'sample=1000:control=ctl');

# A folder of everybody's, as /tmp is, with a link of somebody's in the place of the profile.
sub folder_with_link {
    my $dir = new_dir();
    symlink 'victim', "$dir/nytprof.out" or die;
    chmod 01777, $dir;
    return $dir;
}

# Root of a container may be the only user that there is; others may be nobody already.
my $may_become_nobody = $> == 0 && system($^X, '-e', '$< = $ARGV[0]; exit($< != $ARGV[0])', NOBODY) == 0;

# A scenario that only root can try. A program with other rights gets no AddressSanitizer.
sub root_scenario {
    my ($name, $code) = @_;
    return scenario $name => sub {
        plan skip_all => 'needs root' if !$may_become_nobody;
        plan skip_all => 'a sanitizer is not loaded there' if sanitized();
        $code->();
    };
}

# A program that makes nobody the real ($<) user, the effective ($>) one or both, and then runs a command.
sub become { my ($users) = @_; return $^X, '-e', "$users = " . NOBODY . '; exec { $ARGV[0] } @ARGV or die' }

# Runs $CODE, started by a command; with another perl, if told.
sub run_by {
    my ($command, %o) = @_;
    put("$o{dir}/prog.pl", $CODE);
    my $run = run_command(
        [@$command, $o{perl} || $^X, @OURS, '-MDevel::NYTProf', 'prog.pl'], dir => $o{dir},
        env => { PATH => $ENV{PATH}, NYTPROF => $o{opts} },
    );
    $run->{dir} = $o{dir};
    return $run;
}

sub is_unprofiled {
    my ($run, $kind) = @_;
    like $run->{err}, qr/\ADevel::NYTProf: a program with more rights than its caller [^\n]*; it runs unprofiled\n\z/, "'$kind': which is said once";
    is join(' ', map { s{.*/}{}r } sort glob "$run->{dir}/*"), 'nytprof.out prog.pl', "'$kind': nothing was written";
}

user_scenario 'with -T' => sub {
    for my $kind (@KINDS) {
        my $run = run_prog(switches => ['-T', @OURS], code => $CODE, opts => $kind);
        is "$run->{status}$run->{err}$run->{out}", $kind =~ /control/ ? '01 ctl 600' : '01', "'$kind': runs, a socket is for its user alone";
        my $p = whole_in($run, "'$kind': the profile is whole");
        is join('', arc_lines($p, want => qr/main::f/)), "main::RUNTIME 2 main::f x20main::g (eval 1)[prog.pl:3]:1 main::f x1", "'$kind': the calls" if $kind !~ /sample/;
        my $dir = folder_with_link();
        my $linked = run_prog(dir => $dir, switches => ['-T', @OURS], code => $CODE, opts => $kind);
        like $linked->{err}, qr/\A[^\n]*symbolic link, which is not followed, writing \S+nytprof\.out\.\d+\n\z/, "'$kind': a planted link is not followed";
        ok !-e "$dir/victim", "'$kind': and leads to nothing";
    }
};

root_scenario 'a set-user-ID program is not told by its caller where to write' => sub {
    for my $kind (@KINDS) {
        my $dir = folder_with_link();
        my $run = run_by([become('$<')], dir => $dir, opts => "$kind:file=other.out:log=log");
        is "$run->{status}$run->{out}", '01', "'$kind': it runs, and knows of no socket";
        is_unprofiled($run, $kind);
    }
};

# The loader takes LD_PRELOAD out of their environment itself.
scenario 'a program with the rights of another user runs without libnytp-malloc.so' => sub {
    plan skip_all => 'needs root' if $> != 0;
    my $library = root() . '/blib/arch/auto/Devel/NYTProf/libnytp-malloc.so';
    plan skip_all => 'no libnytp-malloc.so' if sanitized() || !-e $library;
    my $run  = run_prog(code => '1;', impl => 'plain');
    my $perl = "$run->{dir}/set-user-ID";
    system 'cp', $^X, $perl;
    chmod 0777, $run->{dir};
    chown NOBODY, -1, $perl;
    chmod 04755, $perl;
    my ($done, $plain) = map {
        run_command(
            [$perl, @$_, '-e', 'print "$> ", $ENV{LD_PRELOAD} // "none"; exit 3'],
            dir => $run->{dir},
            env => { LD_PRELOAD => $library, NYTPROF => 'memory=64k' }
        )
    } [@OURS, '-d:NYTProf'], [];
    plan skip_all => 'the folder for temporary files has no such programs' if $done->{out} =~ /\A0 /;
    is "$done->{out} $done->{status}", "$plain->{out} $plain->{status}", 'as without us';
    like $plain->{out}, qr/\A65534 /, 'which is of that user';
    like $done->{err}, qr/\A\S+ memory= counts values only; [^\n]*\n\z/, 'which is said';
};

root_scenario 'nor is a perl with capabilities, but for root and where they were handed down' => sub {
    my $bin = new_dir();
    my $perl = "$bin/perl";
    copy($^X, $perl) or die "$perl: $!";
    chmod 0755, $bin, $perl;
    local $ENV{PATH} = "$ENV{PATH}:/usr/sbin:/sbin";
    plan skip_all => 'no setcap, or a file system without capabilities' if system("setcap cap_net_bind_service+ep $perl >/dev/null 2>&1") != 0;
    my $setpriv = 'setpriv --reuid ' . NOBODY . ' --clear-groups --inh-caps +net_bind_service --ambient-caps +net_bind_service';
    my @profiled = (['root', [], $perl], ['with capabilities handed down', [split / /, $setpriv], $^X]);
    for my $opts (map {"$_:file=other.out"} @KINDS) {
        my $run = run_by([become('$< = $>')], dir => folder_with_link(), opts => $opts, perl => $perl);
        is "$run->{status}$run->{out}", '00', "'$opts': it runs, and knows of no socket";
        is_unprofiled($run, $opts);
        for my $case (@profiled) {
            my ($who, $command, $with) = @$case;
            $run = run_by($command, dir => folder_with_link(), opts => $opts, perl => $with);
            is "$run->{status}$run->{err}", '0', "'$opts', $who: runs, and nothing is said";
            whole_in($run, "'$opts', $who: is profiled, whole", 'other.out');
        }
    }
};

root_scenario 'started by root as somebody else: a profile of that user\'s' => sub {
    my $dir = folder_with_link();
    my $run = run_by([become('$>')], dir => $dir, opts => '');
    is "$run->{status}$run->{out}", '00', 'it runs';
    my ($name) = map { s{.*/}{}r } glob "$dir/nytprof.out.*";
    is ((stat "$dir/$name")[4], NOBODY, 'the file is the effective user\'s');
    whole_in($run, 'and whole', $name);
    for my $kind (grep { $_ ne '' } @KINDS) {
        $run = run_by([become('$>')], dir => folder_with_link(), opts => $kind);
        is "$run->{status}$run->{out}", '00', "'$kind': it runs";
        my $refused = $kind =~ /sample/ ? 'sampling is not possible: .*; the program runs unprofiled' : "control=$run->{dir}/ctl: .*; the program runs without it";
        like $run->{err}, qr/^Devel::NYTProf: $refused$/m, "'$kind': is refused";
    }
};

# Another user has laid this into a folder that he may write to, under our file's name.
sub as_nobody { my ($dir, @command) = @_; system(become('$< = $>'), 'sh', '-c', "cd $dir && @command") == 0 or die "@command" }

my %LAID = (
    'a link' => ['ln -s victim NAME', 'the file is a symbolic link, which is not followed'],
    'a link to a device' => ['ln -s /dev/full NAME', 'the file is a symbolic link, which is not followed'],
    'a FIFO' => ['mkfifo -m 666 NAME', q(the file is another user's)],
    'a file' => ['umask 0; : > NAME', q(the file is another user's)],
);
my %FOLDERS = (q(everybody's) => [0, 0, 01777], q(the other user's) => [NOBODY, 0, 0755], q(a group's) => [0, NOBODY, 0775]);

root_scenario 'where others may write, nothing of theirs is opened: the profile gets another name, messages go to standard error' => sub {
    for my $whose (sort keys %FOLDERS) {
        for my $what (sort keys %LAID) {
            my ($command, $why) = @{ $LAID{$what} };
            my $dir = new_dir();
            open my $victim, '>', "$dir/victim" or die;
            chmod 01777, $dir;
            as_nobody($dir, $command =~ s/NAME/$_/r) for 'there.out', 'there.log';
            my ($uid, $gid, $mode) = @{ $FOLDERS{$whose} };
            chown $uid, $gid, $dir or die;
            chmod $mode, $dir;
            # whoever reads from a FIFO is there already
            my @readers = map { my $fh; -p "$dir/$_" && sysopen($fh, "$dir/$_", O_RDONLY | O_NONBLOCK) ? $fh : () } 'there.out', 'there.log';
            my $run = run_prog(dir => $dir, code => 'print "ran"', opts => 'file=there.out:log=there.log:trace=1');
            is "$run->{status} $run->{out}", '0 ran', "$what in $whose folder: the program runs";
            my ($profile) = glob "$dir/there.out.*";
            like $run->{err}, qr{\ADevel::NYTProf: cannot write $dir/there\.log: a link, or another user's file, where others may write; messages go to standard error\nDevel::NYTProf: \Q$why\E, writing $profile\n(?:Devel::NYTProf: process .*\n)+\z}, "$what in $whose folder: is said";
            is join('', map { sysread $_, my $bytes, 1; $bytes // '' } @readers), '', "$what in $whose folder: nobody reads anything";
            is -s "$dir/victim", 0, "$what in $whose folder: nothing is written";
            is join('; ', check_sums(read_profile($profile))), '', "$what in $whose folder: the profile is whole";
        }
    }
    my $dir = new_dir();
    chown NOBODY, 0, put("$dir/there.out", '') or die;
    is run_prog(dir => $dir, code => '1', opts => 'file=there.out')->{err}, '', 'in a folder of our own it is ours';
};

user_scenario 'where others may write, a file with a second name is not written to, a FIFO of one\'s own is' => sub {
    my $dir = new_dir();
    my $run = run_prog(dir => $dir, code => 'print "ran"', opts => 'file=there.out', shell => ': > victim; ln victim there.out; chmod 1777 .');
    like $run->{err}, qr/second name.*, writing \S+there\.out\.$run->{pid}\n\z/, 'is said';
    is -s "$dir/victim", 0, 'nothing is written';
    $run = run_prog(code => 'print "ran"', opts => 'file=pipe', everyone => 1, shell => 'chmod 1777 .; ' . fifo_reader('pipe', 'cat > part; mv part copy.out'));
    is "$run->{status} $run->{err}", '0 ', 'a FIFO';
    ok -p "$run->{dir}/pipe", 'stays one';
    whole_in($run, 'has a whole profile', await(sub { -e "$run->{dir}/copy.out" && 'copy.out' }));
};

scenario 'Devel::NYTProf::Apache\'s file in /tmp: a link that lies there is not followed' => sub {
    plan skip_all => 'needs root' if !$may_become_nobody || !-k '/tmp';
    my $lay = join ' ', map { "'$_'" } become('$< = $>'), 'ln', '-s';
    my $run = run_prog(code => 'print $$', how => 'late', opts => undef, switches => ['-MDevel::NYTProf::Apache'],
        shell => qq(: > victim; chmod 777 . victim; $lay "\$PWD/victim" /tmp/nytprof.\$\$.out));
    my @files = glob "/tmp/nytprof.$run->{out}.out*";
    like $run->{err}, qr/symbolic link, which is not followed, writing $files[1]$/m, 'is said';
    is -s "$run->{dir}/victim", 0, 'nothing is written there';
    is join('; ', check_sums(read_profile($files[1]))), '', 'the profile is whole';
    unlink @files;
};

# Changes rights, and waits, executing statements, until all threads of the process have the same, the
# socket is its user's or gone, and, with REFUSED true, its own thread has said that it is refused.
my $CHANGES = <<'P';
use POSIX ();
sub rights { my ($file) = @_; open my $fh, '<', $file or return; local $/; return join ' ', <$fh> =~ /^(?:Uid|Gid|Groups):\s*(.*?)\s*$/mg }
sub all_rights { my %all = map { ($_ // '') => 1 } map { rights($_) } glob "/proc/$$/task/*/status"; return sort grep { $_ ne '' } keys %all }
my $socket = POSIX::getcwd() . '/ctl';
sub is_at_rest { my @socket = stat $socket; my @all = all_rights(); return @all == 1 && (!@socket || $socket[4] == $< || $socket[4] == $>) }
my $before = rights("/proc/$$/status"); my $until = time + 600;
CHANGE;
my $is_other = rights("/proc/$$/status") ne $before;
1 while !(is_at_rest() && (-s STDERR || !REFUSED)) && time < $until;
print join ' ', $is_other ? 'changed' : 'the same', is_at_rest() ? 'at rest' : ('threads', all_rights(), 'socket', -e $socket ? (stat $socket)[4] : 'none');
P

root_scenario 'no thread of ours keeps rights that the program has given up, nor a socket' => sub {
    my %changes = (
        'setuid' => 'POSIX::setuid(65534)', 'setgid' => 'POSIX::setgid(65534)', 'setgroups' => '$) = "0 1 2 3"',
        'both' => '$( = $) = "65534 65534"; ($<, $>) = (65534, 65534)', 'setregid' => '$( = $) = "65534 65534"',
        'for a while' => '$> = 65534; work() for 1 .. 20; $> = 0; $) = "0 7"; sub work { my $n; $n += $_ for 1 .. 20000 }',
        'after chroot' => 'chdir "/"; chroot "."; $( = $) = "65534 65534"; ($<, $>) = (65534, 65534)',
    );
    for my $kind (grep { $_ ne '' } @KINDS) {
        for my $name (sort keys %changes) {
            for my $is_open (0, 1) { # whether the folder is his
                next if $is_open && $kind !~ /control/;
                my $is_refused = $kind =~ /control/ && !$is_open && $name =~ /setuid|both|chroot/;
                my $dir = new_dir();
                chmod $is_open ? 0777 : 0755, $dir;
                my $run = run_prog(dir => $dir, opts => $kind, code => $CHANGES =~ s/CHANGE/$changes{$name}/r =~ s/REFUSED/$is_refused ? 1 : 0/er);
                is $run->{out}, 'changed at rest', "'$kind', $name: all threads have the program's rights";
                like $run->{err}, $is_refused ? qr/^Devel::NYTProf: control=\S+: Permission denied; the program runs without it$/m : qr/\A(?!.*control)/s, "'$kind', $name: what is said of the socket";
                is join(' ', glob "$dir/ctl*"), '', "'$kind', $name: no socket is left";
            }
        }
    }
};

root_scenario 'a program that gives up its rights and ends at once leaves no socket' => sub {
    my %changes = ('setuid' => 'POSIX::setuid(65534)', 'both' => '($<, $>) = (65534, 65534)', 'for a while' => '$> = 65534');
    for my $name (sort keys %changes) {
        for my $end ('exit 7', 'exec "sh", "-c", "exit 7"') {
            my $run = run_prog(opts => 'control=ctl', code => "use POSIX (); $changes{$name}; $end");
            is "$run->{status} " . join(' ', glob "$run->{dir}/ctl*"), '7 ', "$name, $end";
        }
    }
};

# perl's syscall() is the way that can be seen from here. These are of perl's processor, not of the kernel's.
my %numbers_of = ('x86_64' => [272, 308], 'aarch64' => [97, 268], 'i686' => [310, 346]); # unshare, setns
user_scenario 'unshare() of a user namespace, setns() to that of a child' => sub {
    my ($unshare, $setns) = @{ $numbers_of{ $Config{archname} =~ s/-.*//r } or plan skip_all => 'another processor' };
    my $work = 'sub work { my $n; $n += $_ for 1 .. 200000; 1 } work(); ';
    my $made = "syscall($unshare, 0x10000000) == 0 ? 'done' : qq(\$!)";
    my $child = "pipe my \$told, my \$tell; pipe my \$ended, my \$end; my \$pid = fork;
        if (!\$pid) { close \$end; syswrite \$tell, $made; sysread \$ended, my \$all, 1; exit }
        sysread \$told, my \$done, 9; open my \$of, '<', \"/proc/\$pid/ns/user\" or die; ";
    my $threads = '; my $until = time + 600; work() while 2 > (() = glob "/proc/self/task/*") && time < $until; print " ", scalar(() = glob "/proc/self/task/*")';
    my %code = (unshare => "print $made; work(); ", setns => "${child}print syscall($setns, fileno \$of, 0) == 0 ? \$done : \$!; close \$end; waitpid \$pid, 0; work(); ");
    for my $call (sort keys %code) {
        plan skip_all => 'there are none here' if run_plain(code => $work . $code{$call})->{out} ne 'done';
        for my $kind (@KINDS) {
            my $run = run_prog(opts => $kind, code => $work . $code{$call} . ($kind eq '' ? '' : $threads));
            is $run->{out}, $kind eq '' ? 'done' : 'done 2', "'$kind', $call: is done, and the thread is there again";
            whole_in($run, "'$kind', $call: the profile is whole");
        }
    }
};

# A process forked then is process 1 of others, and no thread can be started any more.
scenario 'unshare() of process ids' => sub {
    plan skip_all => 'needs root' if $> != 0;
    my ($unshare) = @{ $numbers_of{ $Config{archname} =~ s/-.*//r } or plan skip_all => 'another processor' };
    plan skip_all => 'there are none here' if run_plain(code => "print syscall $unshare, 0x20000000")->{out} ne '0';
    my $work = 'sub work { my $n; $n += $_ for 1 .. 200000; 1 } work(); $| = 1; sub threads { my $until = time + 600; work() while 2 > (() = glob "/proc/self/task/*") && time < $until && $_[0]; scalar(() = glob "/proc/self/task/*") } ';
    my $fork = 'if (!fork) { work(); print " ", threads(1); exit } wait; work();';
    my $has_users = run_plain(code => "print syscall $unshare, 0x30000000")->{out} eq '0';    # not in a chroot
    for my $kind (grep {$_} @KINDS) {
        my $run = run_prog(opts => $kind, code => "$work print syscall($unshare, 0x20000000), ' ', threads(0); $fork");
        is $run->{out}, '0 2 2', "'$kind': the thread stays";
        is $run->{err}, '', 'without a word';
        whole_in($run, 'the profile is whole');
        next if !$has_users;
        $run = run_prog(opts => $kind, code => "$work print syscall($unshare, 0x30000000), ' ', threads(0); $fork");
        is $run->{out}, '0 1 2', "'$kind', with users: only the child has it again";
        like $run->{err}, qr/\ADevel::NYTProf: sampling and control end here, children have them: no thread can be started: [^\n]+\n\z/, 'which is said';
        whole_in($run, 'the profile is whole');
    }
    return if !$has_users;
    # One a second: hardly ever there is a sample before the thread has ended.
    my $run = run_prog(opts => 'sample=1', code => "BEGIN { syscall($unshare, 0x30000000) } my \$until = (times)[0] + 1.3; 1 while (times)[0] < \$until;");
    my $said = $run->{err} =~ /^Devel::NYTProf: no sample was taken in \d\.\d s of processor time: the thread that takes them has ended$/m;
    is $said ? 'said' : 'not said', stmt_total(profile_in($run)) ? 'not said' : 'said', 'that a second of processor time has no sample' or diag $run->{err};
};

# The thread does not run when its time has come, only when it is woken.
my $NEVER_ON_TIME = <<'C';
#include <sys/syscall.h>
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
    return ((long (*)())dlsym(RTLD_NEXT, "syscall"))(number, a, b, c, number == SYS_futex ? 0 : d, e, f);
}
C
user_scenario 'the thread is not run' => sub {
    plan skip_all => 'where it waits by the system call, and no sanitizer is preloaded' if !sees_waits() || sanitized();
    my %reason = (1 => 'fewer than ten were due', 9 => 'the thread that takes them was not run');
    for my $hz (sort keys %reason) {
        my $run = run_prog(opts => "sample=$hz", env => { preloaded($NEVER_ON_TIME) }, code => 'my $until = (times)[0] + 1.3; 1 while (times)[0] < $until');
        like $run->{err}, qr/^Devel::NYTProf: no sample was taken in \d+\.\d s of processor time: $reason{$hz}$/m, "sample=$hz: no sample, and why";
    }
};

done_testing;
