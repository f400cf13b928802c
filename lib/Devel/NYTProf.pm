# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf;

our $VERSION = '6.14';

# With -d perl would compile the following code for DB::DB and DB::sub. It shall only list the places of subs (0x10) and
# name nameless ones (0x200).
our $comes_late;

BEGIN {
    $comes_late = grep { !/::BEGIN\z/ } keys %DB::sub;
    $^P = 0x210 if $^P;
}

# A debugger has to live in this package; otherwise perl searches for perl5db.pl.
package DB;

use Devel::NYTProf::Core;

package Devel::NYTProf;

# -d:NYTProf=file=x,calls=1 arrives as ('file=x', 'calls=1').
sub import {
    shift;
    Devel::NYTProf::Core::set_list(@_);
    Devel::NYTProf::Core::_start();
    return;
}

Devel::NYTProf::Core::_load();

1;

__END__

=encoding utf8

=head1 NAME

Devel::NYTProf - record what a Perl program does, line by line and call by call

=head1 SYNOPSIS

    perl -d:NYTProf app.pl                       # writes nytprof.out
    perl -d:NYTProf=file=app.prof,calls=1 app.pl # options on the switch
    NYTPROF=file=app.prof:calls=1 perl -d:NYTProf app.pl

    nytp-export --callgrind -o callgrind.out.app # open it in kcachegrind, …
    nytp-export --top                            # … or read it in the terminal

=head1 DESCRIPTION

The B<statement profiler> charges time to the line of the statement that runs. When control
returns into the middle of a statement (a sub returns, a loop condition is evaluated again), the
rest is charged to that statement's line. The B<subroutine profiler> records every call of a Perl
sub, XS sub or slow builtin: its place, and its time with and without the calls that it made.

The profile is in NYTProf format 5, which readers of Devel::NYTProf profiles read.
Devel::NYTProf's own reader stops at a profile that names only some of the files: that of a forked
child, or one behind a rotation. L<nytprofmerge> makes one of it that names all.

=head2 Loading

Use C<perl -d:NYTProf>, C<PERL5OPT=-d:NYTProf>, C<PERL5DB='use Devel::NYTProf'> with C<perl -d>,
or C<use Devel::NYTProf>. C<require> in a running program records earlier code, too, from the
sixteenth statement on.

While recording is off, the program executes what it would without the profiler. Switching takes
some 40 ns for each op, 10 ms for a program of 70,000 lines. Subs that are open when recording
begins count as one call from that moment on.

=head2 What the program notices

Only the time. Output, exit status, C<$!>, C<$@>, C<caller>, names, descriptors and signals are as
without the profiler. A problem with the profile is one line on standard error, and the program
goes on.

=head1 OPTIONS

The environment variable C<NYTPROF> holds C<name=value:name=value>; a backslash makes the next
character part of the value. On the switch, options are separated by commas and override the
variable. Unknown names, invalid values and options that can do nothing beside the others
(C<sql=1> with C<subs=0>, say) are reported and ignored. But the program runs
unprofiled after a mistake in C<sample>, C<start>, C<control> or the like.

=head2 What is recorded

    stmts=0         run no statement profiler
    subs=0          run no subroutine profiler
    slowops=N       record builtins that make system calls, run regexps, sort or format: 0 none,
                    1 as CORE::print, 2 (default) as Package::CORE:print of the calling package
    calls=N         record 0 totals for each caller and callee, 1 each return, 2 each entry and
                    return (default, in a short form); see CAVEATS
    leave=0         charge the rest of a statement, after a call returned into it, to the
                    statement executed last
    blocks=1        also record the first line of each statement's block and sub
    savesrc=0       do not copy source files into the profile; nytp-export reads the files at hand
                    if they are unchanged
    sql=1           record the text of statements that DBI runs, without bound values, as the label
                    `sql': nytp-export --sql, --by=sql. It takes subs=1; with `sample' it is for
                    the exact profiles that `control' asks for
    findcaller=1    name callers by perl's current sub, instead of the innermost recorded call,
                    which may be a builtin or XS sub
    nameevals=0     show (eval 7) instead of (eval 7)[file:line]
    nameanonsubs=0  show __ANON__ instead of __ANON__[file:line]; the program itself never sees
                    the long names
    optimize=0      compile without perl's optimizer, so that statement counts follow the source
    use_db_sub=1    see statements through DB::DB instead of redirected ops: slower, with leave=0
    perldb=N        force bits in $^P

Without C<savesrc=0> B<a profile holds the source of the program and its modules>, with the
passwords in it. Code of C<-e>, standard input and string evals is always kept.

=head2 Counts only

    counts=1        count statements (by line) and calls (by caller, callee and line) and measure no
                    time; see CAVEATS

perltidy, json_pp, pod2man and perlcritic took 1.1 to 1.3 of their plain processor time, and 1.4 to
1.9 with an exact recording. Limits (L<nytp-gate(7)>) need no more than counts: C<nytp prove
--nytp-with=counts=1>, C<nytp run --with=counts=1>.

Times are absent everywhere, and so are waits and hangs. C<nytp-export> shows calls and statements
(C<--top>, C<--csv>, C<--json>, C<--rows>, C<--callgrind>, C<--pprof>, C<--collapsed> and others),
and refuses formats that are of times. Source is not kept unless C<savesrc=1> is given.

=head2 Regular expressions and memory

    regex=1         measure matches, substitutions, split, tr and compilations at run time, by
                    place and pattern: nytp-export --patterns
    memory=1        count perl's values (SVs): how many each sub, line and call made, less those
                    freed while it ran: nytp-export --top --sort=svs. The profile is 1.6 times as
                    large, recording costs twice as much; needs an exact profile with calls=2
    memory=BYTES    also sample allocations, one every so many bytes (512k), with sub and line, and
                    whether the block was freed before the end
    svs=0           with memory=BYTES, do not count values, nearly all that `memory' costs

B<nytp run --memory app.pl> does C<memory=BYTES>. It needs Linux and F<libnytp-malloc.so> in
C<LD_PRELOAD>. C<nytp-export --top --sort=inuse_space> and most formats show bytes and blocks:
estimates, of which 100 samples are right to a tenth.

=head2 Samples instead

    sample=N         record N times a second which calls are open, in which statement, builtin or
                     XS sub, instead of each statement and call; 100 is for production
    sample_clock=wall, sample_clock=cpu  weigh a sample by the time since the one before (default),
                     or by processor time
    sample_budget=N  halve the frequency when sampling takes more than N percent of the time
                     (default 3), and restore it later; 0 is no bound

A background thread takes the samples. It sends no signals, so sleeps and system calls are never
interrupted. Times are right within the limits of chance; a statement counts its samples, a sub
the calls that were seen to begin. Reasons of waiting are recorded on Linux (x86-64, arm64):
C<nytp-export --waits>. Source is not kept unless C<savesrc=1> is given.

=head2 When

    start=begin     start at once (default); init: after the program was compiled; end: when it
                    ends; no: not before DB::enable_profile()
    forkdepth=N     profile N generations of forked children; -1 (default) is all. Each child
                    writes its own file, with its process id appended
    control=PATH    listen on a Unix socket for nytp-ctl, for the same user and root only; 1 is
                    $XDG_RUNTIME_DIR/nytp.%p, or the profile's name and .ctl. Children have one each
    sigcontrol=USR2 switch recording on and off by this signal, if the program leaves it alone. It
                    interrupts sleeps; `control' does not
    sigexit=1       finish the profile when INT, HUP, TERM, PIPE, BUS or SEGV kills the program, or
                    one of the signals named: int,term,… Ignored and handled ones are left alone.
                    Otherwise a killed program loses the last part of a second (`flush')
    libcexit=1      finish in the C library's exit(), if perl's END blocks were not run
    endatexit=1     run END blocks in perl_destruct(), for embedded perls
    posix_exit=1    no effect: the profile is finished before POSIX::_exit in any case

=head2 Where to

    file=NAME       the profile's name [nytprof.out]: %p is the process id, %h the host, %t the
                    epoch second, %s the program's base name, %% a percent sign
    addpid=1, addtimestamp=1  append the process id, or the epoch second, to the name
    keep=N          keep only the last N files that `rotate' has finished, of each process and
                    thread; 0 (default) is all
    compress=N      0 is not at all; 1 to 9 are all the same [6]: some 2 ns a byte of the records
    flush=SECONDS   put on disk what was recorded this many seconds ago [0.25; it may be a
                    fraction], or earlier when there is much; 0 leaves it to the size
    log=FILE        write messages to a file instead of standard error
    trace=N         say what the profiler does: 1 profile files, 2 source files, 3 subs, 4 flushes
    clock=N         measure with clock_gettime() clock N; 2 is processor time on Linux
    usecputime=1    removed; the program runs unprofiled. Use clock=2 or sample_clock=cpu

An earlier profile is replaced. Programs that one command starts with the profiler in the
environment keep each other's: the older becomes F<NAME.1> and so on.

=head1 WHAT RECORDING COSTS

Recording adds some 7 ns to a statement and 35 ns to a call. Each process measures this cost while
it runs and writes it into the profile; L<nytp-export(1)> and L<nytprofhtml> subtract it.

The subtracted cost is right to a quarter in small loops. Larger programs pay up to twice as much;
nytp-export shows both figures. A program that calls thousands of subs in turn pays ten times as
much, of which half is subtracted, and nearly nothing in the first twentieth of a second. C<~>
marks a sub that lost more than it has left. C<sample=1000> is more accurate there.

C<--as-recorded> shows times as measured. L<nytprofcg>, L<nytprofcalls>, L<nytprofcsv> and the
reading modules always do.

=head1 FUNCTIONS

    DB::disable_profile()     stop recording; calls that are open still report their return
    DB::enable_profile($file) start, or go on; returns whether recording was on. With a file name
                              the current profile is finished first, if that file can be opened.
                              After DB::finish_profile() the profile goes on in FILE.2
    DB::finish_profile()      finish and close the profile; called automatically when the program
                              ends, after END blocks and destructors
    DB::checkpoint_profile()  put a whole profile so far into NAME.checkpoint, and go on; returns
                              whether it did
    DB::rotate_profile($file) finish the file and go on in the next, or in $file; returns whether it
                              did
    DB::label(KEY => VALUE, ...)  name what the program does from here on, until the key has another
                              value or undef
    DB::label_profile(KEY => VALUE, ...)  label the whole profile that is being written, for what is
                              known only at the end

Children, threads and the next profile begin with the same labels.
C<nytp-export --by=label> sums up C<< DB::label(request => "GET /slow") >>:

    $ nytp-export --by=request
      n    total   median      p95      max      own   rss +  slowest sub           request
     20  8.07 ms   395 us   482 us   490 us  6.72 ms  1.4 MB  main::spin shop.pl:3  GET /slow
     20   813 us  37.5 us  45.5 us   106 us   765 us  246 kB  main::spin shop.pl:3  GET /fast

C<rss +> is the growth of the memory in core. Keys are cut to 100 bytes, values to 4000; at most
100 keys have a value at a time. Where the profiler may be missing: C<< DB::label(...) if defined
&DB::label >>.

=head1 WEB SERVERS

Load the profiler when the server starts, and record what you want to see:

    NYTPROF=start=no:addpid=1 perl -d:NYTProf -S starman app.psgi

L<Plack::Middleware::NYTP>, L<Mojolicious::Plugin::NYTP> and, for mod_perl,
L<Devel::NYTProf::Apache> record requests. Without them, for responses that are not streamed:

    DB::enable_profile("/var/tmp/request.$$." . ++$n . ".out");
    my $response = $app->($env);
    DB::finish_profile();

Use C<sigexit=1> where the server stops its workers with TERM.

=head1 IN PRODUCTION

Start the service with the recorder off:

    NYTPROF=start=no:file=/var/tmp/app.%p.prof:control=/run/app/nytp.%p perl -d:NYTProf app.pl

Nothing is recorded, at no cost but a sleeping thread and a socket. When the service is slow:

    $ nytp-ctl 4711 on --seconds 10
    on /var/tmp/app.4711.prof
    off /var/tmp/app.4711.prof
    $ nytp-export --top /var/tmp/app.4711.prof

Or take samples all the time. C<on> then records exactly for a while, into F<app.4711.prof.exact>:

    NYTPROF=sample=100:file=/var/tmp/app.%p.prof:control=/run/app/nytp.%p perl -d:NYTProf app.pl

A service that runs for weeks uses C<keep=24> and C<nytp-ctl PID rotate> from an hourly job.
L<nytp-ctl> has more commands, and tells when they are obeyed.

=head2 What it costs

Nothing while it is off: a call takes 1,532 instructions with and without the profiler, 3,600
while it is recorded exactly. Samples cost this much processor time (in parentheses: a thread that
only wakes):

                               100 a second        1,000 a second
    a loop that allocates      0.3 % (0.2)         2.3 % (2.0)
    perltidy                   0.3 % (0.1)         2.4 % (0.7)
    Mojolicious application    0.8 % (0.3)         4.2 % (1.3)

Elapsed time grows by at most 0.3 % and 1.7 %. A profile's begin and end take half a millisecond.
F<bench/always-on/> measures all of this.

=head1 THREADS

Each thread (L<threads>) writes a profile of its own: F<nytprof.out.t1> is that of the thread
whose C<< threads->tid >> is 1. nytp-export adds them up, and L<nytprofmerge> makes one file of
them:

    $ NYTPROF=file=work.out perl -d:NYTProf work.pl
    $ nytp-export --top work.out work.out.t*

A thread's profile is complete when its sub has returned, died or exited. A thread that still runs
at the end has a partial profile; so has the first when another calls C<exit>.

C<DB::disable_profile()> and the like are for the calling thread; L<nytp-ctl> is for all. After a
fork in a thread the child goes on in F<nytprof.out.PID.t1>. A thread costs a millisecond and 0.4
MB.

=head1 SIZE

A million calls with their statements take 2 to 9 MB, besides the program's source. C<calls=2>
written out takes twice as much, C<calls=1> leaves out entries, C<calls=0> all single calls,
C<slowops=0> builtins.

=head1 LIMITS

B<Coroutines>: Where coroutines (L<Coro>) switch, a call that is open while another runs counts as
the caller of what runs there. Own times are right, inclusive times and callers across coroutines
are not. An C<async sub> (L<Future::AsyncAwait>) that goes on later is listed below what resumed
it, with 0 calls.

B<AUTOLOAD and overloaded code>: A call by AUTOLOAD, or of an object that is code by overloading,
takes 24 bytes until its scope ends.

B<Replaced ops>: A module that has put its own code in the place of an op keeps that: calls
through it are not seen.

B<Embedded perls>: Interpreters of the same time have profiles like threads, those one after
another like programs of one run.

B<Modules loaded before>: Insides of F<strict.pm> and F<XSLoader.pm> are recorded only where a
running program loads them.

B<A second thread>: With C<sample> or C<control> malloc locks: most programs take 0.2 to 0.6 %
more instructions. In XS modules unshare(CLONE_NEWUSER) and setns() fail. glibc may abort programs
that give one thread other capabilities, then change user.

=head1 CAVEATS

B<What is listed>: Every compiled sub is listed, called or not, if anything else in its file was
recorded. A recorded BEGIN block is C<Pkg::BEGIN@LINE>; the last unrecorded one of a package is
C<Pkg::BEGIN>. Builtins and xsubs have lines 0 to 0, and stand in the file with the lowest id that
has a sub of their package.

B<file>: The folder has to exist, and unknown placeholders leave the program unprofiled. A file
that another program writes, or that is no profile, is left alone: the process id is appended. The
same holds in folders that others may write to (F</tmp>) for links, others' files, FIFOs and
devices. A FIFO is waited for a second. C<perl -MDevel::NYTProf -e 1> replaces no profile of more
than 64 kB.

B<Privileges>: A set-user-ID or set-group-ID program, or one whose file has capabilities, runs
unprofiled unless root started it. Inherited capabilities (systemd's C<AmbientCapabilities=>) do
not matter. The sampling thread ends and begins anew when the process changes its user or groups.

B<Source and $^P>: C<$^P> is 0 unless an option needs it. It is 0x400 while perl compiles what
cannot be read again: standard input, or code from a hook in C<@INC>. A program whose evals nest
thousands deep has a large profile without C<nameevals=0>.

B<regex>: 5,000 places and patterns are told apart. A killed program keeps what was matched in
half of its time at least. With C<sample> there are samples, not calls.

B<memory>: Temporaries are freed when the next statement begins, those of a sub's last statement
by its caller. A child counts values from the fork on. A child's file also has the parent's
allocations that are still in use; nytp-export counts them once if it has several of these files.
For C<rotate>, 262,144 samples and 65,536 distinct calls are kept. Programs that are linked
statically, or have more rights than their caller, ignore C<LD_PRELOAD>. With C<sample> only
allocations are sampled.

B<calls>: A killed program has no totals with C<calls=0>. Without the option calls are short
comments of the format, which halve the file but which other readers pass over. For these, record
with C<calls=2>, or convert: C<nytprofmerge -o expanded.out nytprof.out>.

B<counts>: Calls are totals, as with C<calls=0>, so stacks are estimated from them, in proportion
to calls. A line's statements belong to the innermost sub that holds the line: several subs on one
line share them. C<DB::label()> does nothing. Readers of the format see times of 0;
L<Devel::NYTProf::Data> has C<undef>. A killed program has the statements up to the last flush,
and no calls (but C<sigexit>).

B<sample>: Subs that no sample saw are missing. Options for exact profiles are ignored. Of more
than 1,000 open calls the middle is left out. A program that executes no statement for a tenth of
a second has its open calls noted in the file, for when it is killed. At most a sixteenth of that
time, or 10 s, is missing. A second of processor time without a sample is reported at the end.
Other systems than Linux see subs less well whose last statement takes the time.

B<control>: A client has three seconds for its command. A process that becomes another user, or
closes all descriptors, opens a new socket if it may. C<checkpoint> and C<rotate> during an exact
recording are for that one; children that are forked meanwhile are sampled.

B<clock>: The processor's counter is read where the kernel's monotonic clock is that counter, and
compared with it at each flush; after a difference clock_gettime() is read. C<nytp-export --stats>
names the clock. Other clocks need a system call each time: C<clock=2> is rough for subs of a few
microseconds.

B<flush>: Before a call that may block, all is written: a program that hangs and is killed shows
where. It takes at most 2 % of the time and 10 ms at once, so of calls within microseconds not
each is preceded by it.

=head1 COMING FROM Devel::NYTProf 6

The facts are the same, with these exceptions:

    - DB::enable_profile($file) does not repeat the call totals of the file before. After
      DB::finish_profile() it goes on in another file instead of overwriting the finished one.
    - The statement that calls DB::disable_profile() keeps its time.
    - An xsub whose first call died is an xsub all the same. A builtin or xsub is shown in the
      file with the lowest id.
    - For an unknown id fileinfo_of in Devel::NYTProf::Data gives undef and a warning. In
      Devel::NYTProf::Util fmt_float formats tiny numbers with any precision, and
      strip_prefix_from_paths edits arrays in arrays.
    - Devel::NYTProf::Test and Devel::NYTProf::FileHandle, which only Devel::NYTProf itself
      uses, are not installed.

=head1 SEE ALSO

L<nytp-export(1)>, L<nytp-run>, L<nytp-ctl>, L<nytprofmerge>, L<nytprofhtml>,
L<Devel::NYTProf::Data>, L<Devel::NYTProf::ReadStream>

=head1 LICENSE

This library is free software; you can redistribute it and/or modify it under the same terms as
Perl itself.

=cut
