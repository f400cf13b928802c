# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf;

our $VERSION = '6.14';

# Under -d perl would compile what follows for DB::DB and DB::sub to look at; it is only to list
# where subs are (0x10) and to name those without a name (0x200).
our $comes_late;

BEGIN {
    $comes_late = grep { !/::BEGIN\z/ } keys %DB::sub;
    $^P = 0x210 if $^P;
}

# A debugger has to live here; perl would otherwise go looking for perl5db.pl.
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

Two profilers in one. The B<statement profiler> charges time to the line of the statement that
was running when it passed; when control returns into the middle of a statement (a sub returns,
a loop condition is evaluated again) the rest of that statement is charged to its own line. The
B<subroutine profiler> records every call of a Perl sub, XS sub or slow builtin: where it was
made, how long it took with and without the calls that it made itself.

The profile is in NYTProf format 5, which every reader of Devel::NYTProf profiles reads.

=head2 Loading

C<perl -d:NYTProf>, C<PERL5OPT=-d:NYTProf>, C<PERL5DB='use Devel::NYTProf'> with C<perl -d>, or
C<use Devel::NYTProf> / C<-MDevel::NYTProf>, C<require> in the middle of a program that runs: the code
that is there already is recorded, too. A C<require> without C<import> or C<DB::enable_profile()> behind it records from the
sixteenth statement on; C<DB::disable_profile()> before that keeps it from beginning.

Recording is switched on and off in the program's compiled code itself. While it is off (C<start=no>,
after C<DB::disable_profile()> or C<DB::finish_profile()>) the program executes what it would without
the profiler; only what it compiles is noted. Switching takes some 40 ns for each op, 10 ms for a
program of 70,000 lines. Subs that are open when recording begins are part of the stack: each counts
as a call, from that moment on.

=head2 What the program notices

Nothing but the time. Output, exit status, C<$!>, C<$@>, C<caller>, the names of evals and
anonymous subs, open descriptors, signals: all are as without the profiler. C<$^P> is 0 unless an
option needs a bit of it, but for source that cannot be read again, a script on standard input or a
module that a hook in C<@INC> hands out: it is 0x400 while perl compiles that. The profile ends in an C<END> block: as behind
any, C<$@> is empty when perl then destroys what is left.
A problem with the profile is said in one line on standard error, and the program goes on.

=head1 OPTIONS

In the environment variable C<NYTPROF> as C<name=value:name=value>; a backslash makes the next
character part of the value. Or on the switch, separated by commas, where they come last and win.
What is wrong is said and left out; a mistake in C<sample>, C<start>, C<control> and their like, or in such a name, leaves the
program unprofiled.
A name or value that is none is said and left out.

=head2 What is recorded

=over 4

=item stmts=0

No statement profiler.

=item leave=0

The rest of a statement, after a call returned into it, is charged to the statement executed last.

=item blocks=1

Also record the first line of each statement's block and sub.

=item use_db_sub=1

See statements through perl's C<DB::DB> instead of redirected ops. Slower; implies leave=0.

=item subs=0

No subroutine profiler.

=item slowops=N

Builtins that make system calls, run regexps, sort or format are recorded like subs:
0 not at all, 1 as C<CORE::print>, 2 (default) as C<Package::CORE:print> of the calling package.

=item regex=1

What matches, substitutions, C<split> and C<tr> take, and compilations of patterns at run time, by place and pattern:
calls, how many of them found something, their time, the longest call and how many bytes it searched, and times by how
long subjects were. The time is that of the builtin where it is recorded as one (match, subst, regcomp), without what
recording took; C<split> and C<tr> are no such builtins, and are timed here alone. C<nytp-export --patterns> shows it, and which patterns take time
that grows faster than what they search; so do C<--json>, C<--brief> and the report. What keeping it takes is cut out
of the profile's times; 5,000 places and patterns are told apart. A program that is
killed keeps what was matched in half of its time at least, a first tenth of a second excepted.
With B<sample> it is the samples that were taken while such an operation ran, and their time, by place and the pattern
that the operation had when the sample was looked at.

=item memory=1

How many values (perl's SVs: scalars, arrays, hashes, references, subs) each sub, line and call made, less those that
were freed while it ran; exact, by perl's own count, and without what the profiler itself makes. What a sub makes and
its caller frees counts for the one and against the other, so what is left in the end stands where it was made.
Temporaries are freed when the next statement begins, those of a sub's last statement thus by its caller; of a sub that
recurses deeper than before perl makes the variables of the new level, which it keeps. C<nytp-export --top --sort=svs>
shows it, C<--list>, C<--peek>, C<--csv>, C<--json>, C<--rows> and the report have it; C<--top --lines>, C<--tree
--sort=svs>, the report's lines, C<--flamegraph --weight=svs>, C<--collapsed>, callgrind and pprof show what each
context kept, at least 0. C<--gate> and C<--fail-over> hold them to limits (C<svs total E<lt>= base +100>). A child of a
fork counts from the fork on, a thread all of its own. It is for exact profiles with calls=2, statements and subs; they
are some 1.6 times as large then, and recording adds about twice as much. How many bytes the values take it does not
tell.

=item memory=BYTES

Beside the above, samples of the memory that the program allocates, one every so many bytes on average (C<memory=512k>; C<k> and C<m>
multiply), each with the sub and line that was running, and whether it was freed before the end. C<nytp run --memory app.pl> does that. The
library F<libnytp-malloc.so>, which stands beside the profiler's own, must have been loaded with the program (C<LD_PRELOAD>); where it was
not, a message names it and values alone are counted. Whatever other allocator the program uses stays. C<nytp-export --top
--sort=inuse_space> (and C<--lines>), C<--tree>, C<--list>, C<--peek>, C<--brief>, C<--markdown>, C<--flamegraph --weight=alloc_space>, C<--collapsed>, C<--csv>, C<--json>, C<--rows>,
callgrind, pprof, speedscope and C<--firefox>, the report (what is in use), comparisons by stacks and by sub (C<--diff> of C<--top>, C<--markdown>, C<--csv>, C<--json> and the report) and limits (C<inuse_space total E<lt>= 100 MB>) show bytes and blocks that were allocated, and of these what was in use at the end. They are estimates: of what 100 samples stand for a tenth is
their usual error, of one sample all. What the profiler allocates is left out, by and large. Of the
files that C<rotate> finishes each has what was allocated while it was written, and all that was in use at its end, also of what earlier ones have
allocated, in the calls that did (262,144 samples and 65,536 distinct calls, some 20 MB, are kept for later files; that there were more is said). Given
several of them, C<nytp-export> adds up what was allocated, and shows what was in use at the end of the last. The file of a forked child also has what is in
use of its parent's, allocated before the fork, in the calls that did, less what the child frees (of the thread that forked): what a pre-forking server's worker holds. Given parent
and children, or several children, C<nytp-export> counts what they share once: as the parent holds it, else the first child; C<--per-process>, and one
file alone, show all that a process holds. Each child is told the whole list as it begins, which with a distance of a few bytes is much: of 50,000 samples
it is some 240 kB and 50 ms, of one each 512k nothing to speak of. With C<sample> each sample has the calls that were open where its block was allocated, as far in as samples of
time have them; values are not counted then. Linux only. Programs
that the program starts are given the library where C<PERL5OPT> or C<HARNESS_PERL_SWITCHES> records them, else it is taken out of C<LD_PRELOAD> in
C<%ENV>. The loader ignores that variable for a program with more rights than its caller, and a program that is linked statically has no loader.

=item svs=0

With B<memory=BYTES> (C<memory=512k:svs=0>) values are not counted, only bytes are sampled, by sub, line and stack as ever. Counting values at each statement
and call is nearly all that B<memory> costs: by instructions of recording JSON::PP and perltidy 512k adds 0.49 and 0.40 with it, without it less than 0.01.

How much memory of the process is in core is told over time in any profile (on Linux): C<nytp-export --chrome-trace> and C<--firefox> have
it as tracks, with C<memory=BYTES> also what was in use, and C<--massif> is for C<ms_print> and massif-visualizer; the report draws it.

=item instructions=1

How many instructions the program executed in user space, as the processor counts them (Linux, C<perf_event_open>; no root is
needed where F</proc/sys/kernel/perf_event_paranoid> is 2 or less): one number for each process, and for each thread with its profile. It stands in
the headline of C<nytp-export>'s tables, C<--brief> and C<--json>; C<--diff> compares it, and limits may be on it
(C<instructions total E<lt>= base +1%>). It is counted while the program is recorded. What the profiler does now and then (compressing, writing, measuring what
recording costs, taking samples) is left out; what it does at each statement and call, which is as much in each run, is in it, so compare what
was recorded with the same options. By sub it is not told: C<ops>, statements and calls, are.

Where there is no counter a message says why, once, and all else is recorded as without: often in virtual machines, and in
containers. A profile that ends in a signal's handler in another thread has no number, nor has a program that closed the
counter's descriptor. No machine that has a counter was at hand when this was written: it was tried with the kernel's count of
processor time in its place.

=item sql=1

The text of each statement that L<DBI> runs is the label C<sql> while it is prepared and executed by C<do> and
C<select...>, or executed by C<execute> (not while rows are fetched after that). Values that are bound are not
in it; those that the program wrote into the text are. C<nytp-export --by=label=sql> then tells how often each
ran, its median and 95th percentile.

=item calls=N

0: only totals for each caller and callee, which a program that is killed does not come to write;
1: each return; 2 (default): each entry and return.

Without this option each entry and return is told in a few bytes, as a comment of the format, so that
a profile is half as large. All commands and modules of this distribution read them as they read any
call. Other readers of the format, C<nytprofhtml> and C<nytprofcsv> of another Devel::NYTProf among them,
pass over comments: they show the same statements, subs, callers and sources, but no single call
(C<nytprofcalls>, C<for_chunks>, the flame graph of that C<nytprofhtml>, which says that it failed). For these, write C<calls=1> or C<calls=2> when recording, or have
L<nytprofmerge> of this distribution write the file anew, which does the same to a file that is there:

    nytprofmerge -o expanded.out nytprof.out

=item findcaller=1

Name callers by perl's current sub instead of by the innermost recorded call, which may be a
builtin or XS sub.

=item savesrc=0

Do not copy source files into the profile. Programs given with C<-e> or through standard input and
the texts of string evals are kept in any case. Without this option a profile holds the whole source
of the program and of every module that ran: whoever gets the profile gets that, too, with the
passwords that may stand in it. With it the profile tells the size, the time and a sum of each file that perl has loaded:
nytp-export shows the file at hand if its text is still the same. Text that a C<#line> gives another file's name is kept from
string evals only.

=item nameevals=0, nameanonsubs=0

Show C<(eval 7)> instead of C<(eval 7)[file:line]>, C<__ANON__> instead of C<__ANON__[file:line]>.
The long names exist only in the profile; the program never sees them. The name of an eval within evals
holds the names of all around it, as perl's own under C<$^P & 0x100> does: a program in which an eval runs
itself thousands deep has a profile that grows with the square of that, but for C<nameevals=0>.

=item optimize=0

Compile without perl's optimizer, so that statement counts follow the source.

=item perldb=N

Force bits in C<$^P>.

=back

=head2 Samples instead

=over 4

=item sample=N

Not every statement and call is recorded, but N times a second which calls are open, in which
statement, and in which builtin or XS sub. No op of the program is redirected, so it runs as fast
as ever; C<sample=100> is for always. What sleeps or waits is one statement for a long time and
never interrupted: a thread of the profiler's own looks, no signal is sent. Times are right within
what chance allows, numbers are not: a statement counts the samples that hit it, a sub the calls
that were seen to begin, of which there were at least as many. Subs that no sample saw are not in the
profile. Needs Linux for what is said here; on other systems and processors, subs whose last statement
takes the time are seen less well.

What the program waits for when a sample finds it waiting is recorded, too, where the kernel says which system call a
thread is in (Linux on x86-64 and arm64): C<nytp-export --waits> tells sleep, lock, child, pipe, socket and its
other side, name look-up, disk, page fault or terminal, by line.

Sources are not kept unless C<savesrc=1> is given (nytp-export reads them here, of files whose text is as it was); blocks=1 and use_db_sub=1 are ignored. What perl still runs after the C<END>
blocks, to destroy objects, is sampled when it takes more than 10 ms.

A program that hangs shows where, alive or killed, by whatever signal: when it has come to no statement for a
tenth of a second, the thread that looks notes in the file's head (4 kB that are kept for that, unless C<flush=0>, or where a pipe is
written) which calls are open, and for how long; again and again while it lasts. C<nytp-export> shows them as calls
that are open, with this time, of which at most a sixteenth, or 10 s, is missing. Of the 1,000 innermost
calls as many are noted as there is room for, some fifty.

When a second of processor time and more has no sample, this is said at the end, and why.

For always, where a service is started, with a name that tells its processes apart:

    NYTPROF=sample=100:file=/var/tmp/app.%p.prof perl -d:NYTProf app.pl
    $ nytp-export --top /var/tmp/app.4711.prof      # while it runs, too; says that it is partial

The processor time that each process had is in the headline; what is left of the time it waited, or
other programs ran. Each thread of the program has a file of its own. Of calls that are open deeper
than 1,000, the middle is left out. The thread that looks has the user and groups of the process, and
ends when these change, for another to begin at the next statement; in a program with more rights than its caller
(set-user-ID, capabilities) there is none, and no profile.

C<sample> and C<control> make the process one of two threads, and Linux lets no such process into another user namespace:
unshare(CLONE_NEWUSER), also with CLONE_VM or CLONE_SIGHAND, and setns() to one, or to another's mounts, fail with EINVAL. Perl's own C<syscall> is
carried out without the thread, which begins anew behind it (not where process ids are unshared with the users: that is said, and
only children are sampled and steered from there on); what an XS module or a C library calls is not seen from here, and
fails. Such a program is profiled exactly, or by C<fork> and C<exec> of unshare(1), to which none of this applies.

=item sample_clock=wall, sample_clock=cpu

What a sample weighs: the time since the one before (default), or the processor time.

=item sample_budget=N

When sampling itself takes more than N percent of the time (default 3), samples become half as
frequent, as often as needed; when it will take less than half of that, as frequent again. Where they are rarer than was
asked for at the end, the profile's attribute C<sample_last_interval_ns> tells. 0: never.

=back

=head2 When

=over 4

=item start=begin, start=init, start=end, start=no

Start at once (default), when the program has been compiled, when it ends, or not before
C<DB::enable_profile()>. If that is never called, this is said at the end, on a terminal.

=item forkdepth=N

How many generations of forked children to profile; -1 (default) is all. Each child writes its
own file, with its process id appended, beside that of its parent.

=item control=PATH, control=1

Be steered by L<nytp-ctl(1)> through a Unix socket of that name (placeholders as for C<file>), which is for
the same user and root only. A client has three seconds to say what it wants. Children have one of their own, with their process id appended unless C<%p> is in it.
With 1 it is F<$XDG_RUNTIME_DIR/nytp.%p>, or the profile's name and F<.ctl>. See L</"IN PRODUCTION">.

=item sigcontrol=USR2

This signal switches recording on, and off again with the profile finished, where the program leaves it
without a meaning. It interrupts a program that waits, as any signal does; C<control> does not.

=item sigexit=1, sigexit=int,term,…

Finish the profile, and remove the socket of C<control>, when one of INT, HUP, TERM, PIPE, BUS, SEGV, or of the signals named, kills the
program, whatever it is doing at that instant, even when it is out of stack. It then dies of the
signal as it would have. Signals that are ignored or that the program handles are left alone, also when it has given the
handler up again (C<local $SIG{TERM}>); with
threads (L</THREADS>) only the profile of the one that gets the signal is finished. Should the profile not be writable then, nothing
is said. Without this option, too, a killed program leaves all but the last part of a second of its
profile, and where it hung (C<flush>).

=item posix_exit=1

Without effect: the profile is finished before C<POSIX::_exit> in any case.

=item libcexit=1

Finish in the C library's C<exit()>, if perl's END blocks have not been run.

=item endatexit=1

Run END blocks in C<perl_destruct()>, for embedded perls.

=back

=head2 Where to

=over 4

=item file=NAME

Default F<nytprof.out>. In NAME C<%p> stands for the process id, C<%h> for the host, C<%t> for the
epoch second at which the process was first profiled or, after C<rotate>, at which the file was begun, C<%s> for the program's base name, C<%%> for a
percent sign; with any other the program runs unprofiled. The folder has to be there.

An existing profile is replaced, but for one of the same run: where the environment loads the
profiler (C<PERL5OPT>, C<PERL5DB>, C<HARNESS_PERL_SWITCHES> for L<prove>), all programs that one
command starts, one after another or by C<exec>, are given one name. The profile that is there then
becomes F<NAME.1>, or the next number that is free, so that F<NAME> is always the latest.
A program that calls C<exec> keeps its profile in the same way.

When the file is another program's profile that is being written, or no profile at all, the process
id is appended, and this is said; in a folder that others may write to, as F</tmp>, also for a symbolic
link, for another user's file, FIFO or device, and for a file with a second name. Else a FIFO or device is
opened as it is. A FIFO that nobody opens, or whose reader takes nothing, is waited for a second, then given up.
A set-user-ID or set-group-ID program, or one whose file has capabilities (C<setcap>), runs unprofiled,
with one line that says so, unless root started it: another user would choose which file it writes.
Capabilities that are handed down (systemd's C<AmbientCapabilities=>, C<setpriv --ambient-caps>) do not
keep a program from being profiled.

A one-line program (C<-e>) that is given no name and loads the module with C<-M> does not replace a
profile of more than 64 kB: C<perl -MDevel::NYTProf -e 1> only looks whether it is installed.

A perl that the program starts with the profiler in C<PERL5OPT> finds the file in use and appends
its process id, too, but without a word, since programs look at what comes from there. When the
first process ends, the profiles that the run left beside its own are named, if its standard error
is a terminal or C<log=> is given.

=item addpid=1, addtimestamp=1

Append the process id, or the epoch second, to the name.

=item keep=N

Of the files that C<rotate> (L<nytp-ctl>, C<DB::rotate_profile>) has finished only the last N stay, of each process and
thread; the one that is being written comes on top. One that was moved away in time is left alone. Default 0: all stay.

=item compress=N

0: not at all; 1 to 9: from fast to small. Default 6: some 2 ns a byte of the uncompressed stream. Levels
7 to 9 make files a quarter to a half smaller, as zlib's levels 6 to 9 do, for five to thirty times
that; levels 2 to 5 are the same as 6, and 1 saves next to nothing.

=item flush=SECONDS

What was recorded is put on disk at the first event that comes this many seconds after the last time
(default 0.25), or after 1/200 of the time that the profile has lasted, if that is less (but not before half
a millisecond), and whenever 1/128 of the profile, or 16 kB (64 kB of samples), are not; a program that is killed loses no
more. It may be a fraction; 0 leaves it to the size. While the program blocks there are no events. So
before a builtin that may wait (C<sleep>, C<select>, C<read>, C<flock>, C<waitpid>, C<system>, ...), before the
first call of any other builtin or xsub, and where the last call of it took 100 microseconds or more, all
is put on disk with the names of the calls that are open (these with C<calls=2>): a program that hangs and
is killed shows where, but not for how long, which C<sigexit> does. This may take 2 % of the time, and
10 ms at once: of calls that follow each other within microseconds not each is preceded by it.

=item log=FILE, trace=N

Messages go to a file instead of standard error; back there, with a word why, when it cannot be written, or lies
where others may write and is a link or another user's. C<trace> adds what the profiler does itself: 1
profile files, 2 source files, 3 subs, 4 each timed flush.

=item clock=N

Measure with clock_gettime() clock N: 2 is the process's CPU time on Linux. Default is the monotonic
clock, read from the processor's counter where the kernel's own clock is that counter: C<tsc>,
C<kvm-clock>, C<hyperv_clocksource_tsc_page>, C<xen> (on these three where the processor says that its
counter is invariant and clock_gettime() is no system call), C<arch_sys_counter> of 64-bit ARM. The two are
compared at each flush; where they have parted (the guest was moved to another host, the machine slept)
recording goes on by clock_gettime(). C<nytp-export --stats> says which clock a recording had. A clock
that is not there becomes the realtime clock. Any but the default is read by a system call, which takes
ten times as long as all else that recording does; it is measured and taken off like the rest
(L</WHAT RECORDING COSTS>), so C<clock=2> shows processor time without waits, but what remains of subs of
less than some microseconds a call is rough.

=item usecputime=1

Has been removed; the program runs unprofiled.

=back

=head1 WHAT RECORDING COSTS

Each statement and call takes a little longer while it is recorded: some 7 ns a statement, 35 a call. What has many
small ones would look dearer than it is. So each process measures what that cost is, among ops as perl programs have
them, at its start and again and again while it runs (up to fifty times a second, some 100 microseconds each, which
are in no profile), adds what our own code takes longer in the program than there, and writes it into the profile, and
L<nytp-export> takes counts times costs off: shares then come near those of the program that nobody looks at. What is
taken off is right to a quarter of it in loops that the processor's caches hold. Programs that are larger pay up to
twice as much as what is taken off: nytp-export tells both figures. One that calls thousands of subs in turn, so that
what is known of each has left the caches when it is called again, pays ten times as much, of which half and more is
seen and taken off, but in its first twentieth of a second nearly nothing: C<sample=1000> is nearer there, too. The
C<--top> of nytp-export marks subs that lost more than they have left with C<~>: there C<sample=1000> is nearer.
C<--as-recorded> shows the times as they were measured. L<nytprofhtml> has the option, too, and says on its first page
how much was taken off. L<nytprofcg>, L<nytprofcalls>, L<nytprofcsv>, this distribution's reading modules and any
other reader of the format show what was recorded: their numbers are those that Devel::NYTProf's own commands give for
the same file, and scripts compare them.

=head1 FUNCTIONS

=over 4

=item DB::disable_profile()

Stop recording. Calls that are open still report their return. The statement that calls it has its
record, with the time up to the call, when recording goes on; if it never does, none.

=item DB::enable_profile(), DB::enable_profile($file)

Go on, or start. With a file name the current profile is finished first, once that file is open: when it cannot be opened,
which is said, the current one goes on. A file that could not be opened or written ends nothing but itself: the next
one is recorded. Returns whether recording was on. Each file has the calls of its own time only. After C<DB::finish_profile()> the
profile goes on in F<FILE.2>, which is said: what is finished is not overwritten.

=item DB::finish_profile()

Finish and close the profile. The call itself is in no profile, its statement is. Called by itself
when the program ends, after its END blocks and the destructors that run in global destruction.
(Into a FIFO or device these are not recorded.)

=item DB::label(KEY => VALUE, ...)

What the program does from here on: C<< DB::label(request => "GET /slow") >>, until the key gets another
value or, with undef, none. Kept per thread; child processes and threads begin with those of their parent, and
so does the next profile. With C<sample=> how long a stretch is, is told by the clock as well (with
C<sample_clock=cpu> by its samples), and its slowest sub by the samples. C<nytp-export --by=label> tells how often and how long each was, and its slowest sub:

    $ nytp-export --by=request
           n      total     median        p95        max        own     rss +  slowest sub           request
          20    8.07 ms     395 us     482 us     490 us    6.72 ms    1.4 MB  main::spin shop.pl:3  GET /slow
          20     813 us    37.5 us    45.5 us     106 us     765 us  245.8 kB  main::spin shop.pl:3  GET /fast

Where there is some, C<db> is the share of the subs of DBI and its drivers, C<wait> that of builtins and subs that wait. C<rss +> is by how much the memory that the process has in core grew meanwhile; divided by C<n> what each of them keeps, once there are many.

Keys are cut to 100 bytes, values to 4000; at most 100 keys have a value at a time. Text of bytes that are UTF-8 is
taken as UTF-8, other bytes as Latin-1. What a call has had of its time
when a label changes stays with the old one. C<nytp-export --firefox> and C<--chrome-trace> show the stretches
as markers and tracks beside the calls. Other readers of profiles pass labels over. In a program
that also runs without the profiler: C<< DB::label(...) if defined &DB::label >>.

=item DB::label_profile(KEY => VALUE, ...)

The same for the whole of the profile that is being written, in this process: for what is known only at
the end. Nothing happens where none is being written.

=back

=head1 WHAT IS LISTED

Every sub that perl compiled while the module was loaded is in the profile with its lines, called or
not, if anything else in its file was recorded; so are closures that C<Sub::Util::set_subname> or
C<Sub::Name::subname> named.

A BEGIN block, or C<use>, that was recorded is C<Pkg::BEGIN@LINE>. Of those that ran while nothing
was recorded (before INIT with start=init, during a pause, with subs=0) the last of each package is
C<Pkg::BEGIN>. C<perl -d:NYTProf> is itself a C<use> on line 0 of the program: C<main::BEGIN>, lines
0 to 0, is in most profiles for it.

Builtins and xsubs have lines 0 to 0. They are shown in the file with the lowest id that has a sub
of their package, in a string eval only if there is no file. A builtin is one also if each call of
it dies; an xsub once a call of it has returned, whatever became of the calls before.

Subs that AutoSplit cut out of a module are in the module's file, once code of the module itself
has been recorded.

=head1 COMING FROM Devel::NYTProf 6

The facts are the same, with these exceptions:

=over 4

=item *

With C<DB::enable_profile($file)> the call totals of the file before are not repeated in the new
one: merged, calls would count twice.

=item *

C<DB::enable_profile()> after C<DB::finish_profile()> goes on in another file instead of
overwriting the finished one. The call of C<DB::finish_profile()> is in neither, its statement is
in the first with leave=1, too.

=item *

The statement that calls C<DB::disable_profile()> keeps its time, so that sums stay whole.

=item *

An xsub whose first call died is an xsub all the same. Of several files that a builtin or xsub could
be shown in, the one with the lowest id is taken, not one by hash order: the same program gives the
same profile.

=item *

For an id that no file has C<fileinfo_of> in L<Devel::NYTProf::Data> gives undef and a warning, as
for a name, and profiles with merged string evals can be dumped without a hook. In
L<Devel::NYTProf::Util> C<fmt_float> formats tiny numbers with any precision, and
C<strip_prefix_from_paths> edits arrays in arrays.

=item *

Devel::NYTProf::Test and Devel::NYTProf::FileHandle, which only Devel::NYTProf itself uses, are not
installed.

=back

=head1 WEB SERVERS

Load the profiler when the server starts, and record what you want to see:

    NYTPROF=start=no:addpid=1 perl -d:NYTProf -S starman app.psgi

L<Plack::Middleware::NYTP> and L<Mojolicious::Plugin::NYTP> make a profile of each request, or of every N-th,
which C<nytp-export --by=label> sums up, or, with C<when>, of one request on demand, to which the report can be the answer;
without a middleware it is

    DB::enable_profile("/var/tmp/request.$$." . ++$n . ".out");
    my $response = $app->($env);
    DB::finish_profile();

for responses that are not streamed.

Other plug-ins for Plack, Mojolicious and Dancer call these functions, too, and those that load the profiler
themselves, in the running server, see what was compiled before as well. A worker that the server kills leaves all
but the end of its profile;
with C<sigexit=1> one that is sent TERM leaves a whole one. With mod_perl see L<Devel::NYTProf::Apache>.

=head1 IN PRODUCTION

Once, where the service is started:

    NYTPROF=start=no:file=/var/tmp/app.%p.prof:control=/run/app/nytp.%p perl -d:NYTProf app.pl

Until it is asked for, nothing is recorded and the program executes what it would without the profiler; it
has a thread more, which sleeps, and a socket. When it is slow, find the process, and

    $ nytp-ctl 4711 on --seconds 10
    on /var/tmp/app.4711.prof
    off /var/tmp/app.4711.prof
    $ nytp-export --top /var/tmp/app.4711.prof

For these ten seconds it costs what an exact profile costs. Commands are obeyed at the next statement, branch or
loop that is executed; no system call is interrupted, and a process that sleeps obeys when it wakes: C<nytp-ctl PID
status> says "pending" until then. Recording over and over, each C<on> has a file of its own: F<NAME>, F<NAME.2> and so on.

Or let it take samples all the time (L</"Samples instead">), and look closer when there is something to see:

    NYTPROF=sample=100:file=/var/tmp/app.%p.prof:control=/run/app/nytp.%p perl -d:NYTProf app.pl

    $ nytp-ctl 4711 on --seconds 3
    on /var/tmp/app.4711.prof.exact
    off /var/tmp/app.4711.prof.exact

These three seconds are recorded exactly, in a file of their own, with all calls that were open; the next time in
F<app.4711.prof.exact.2>. No samples are taken meanwhile. They go on in F<app.4711.prof> afterwards, whose times are those outside
of the exact profiles. A child that is forked in these seconds is sampled: what is asked of a process is asked of it
alone. C<checkpoint> and C<rotate> are for the profile that is being recorded: the exact one in these
seconds, else the sampled one. C<DB::finish_profile()> ends both.

For a service that runs for weeks: C<keep=24>, and C<nytp-ctl PID rotate> from an hourly job. C<control=1> makes the
socket in F<$XDG_RUNTIME_DIR>, or else beside the profile, named as that and F<.ctl>; C<nytp-ctl> finds it by the
process id.

C<nytp-ctl PID heap -o FILE> counts its values at one moment, in a copy that it makes of itself: it stands still for that fork only.
C<nytp spy heap BEFORE AFTER> tells from two of these what has grown, and what holds it.

C<nytp-ctl PID stack> tells where a program is, also while it executes nothing, and for how long it has waited there:

    pid 4711 waits in CORE:readline for 11.9 s, fd 4 (TCP 127.0.0.1:5941)
      main::fetch app.pl:2
      main::job app.pl:3
      main::RUNTIME app.pl:5

C<checkpoint> puts a whole profile so far into F<NAME.checkpoint> while recording goes on; C<rotate> finishes the file
and goes on in the next. The program can do these itself:

    DB::checkpoint_profile();
    DB::rotate_profile("/var/tmp/job.$id.prof");

Both return whether they did; a profile that cannot go on in the next file goes on where it is. The socket of a process that was
killed is left behind, and replaced by the next of that name; anything else of that name is not. A program that closes all
descriptors, as a daemon does, has the socket anew at its next statement. One that becomes another user has another, which is that
user's, if he may make one in that folder; else there is none from then on, which is said once. The socket's and its clients'
descriptors are high ones; but accept(2) gives a client the lowest free number, and for the microsecond until it has a high one
what the program opens gets the next.

=head2 What it costs

Until it is switched on, and after it is switched off: nothing. A call takes 1,532 instructions without the profiler,
with C<start=no> and after C<DB::disable_profile()>, and some 3,600 while it is recorded exactly (a sub of one statement that
calls itself; perl 5.36). Switching on and off looks at each op of the program once, while the program stands still:
microseconds for a small one, tens of milliseconds for one as large as perltidy. F<bench/always-on/off> of the
distribution measures all of that here and now.

Samples cost processor time of the program and of the thread that takes them. Counted in instructions (perl 5.36, valgrind; runs
of a third of a second, with the beginning and end of the profile), perltidy took 0.1 % more with 92 samples and 0.3 % with 286, a
Mojolicious application, whose stacks are 44 calls deep, 0.1 % with 36 and 0.2 % with 102. What the kernel does comes on top, which
is mostly to wake the thread, and dear on a virtual machine. On a quiet one of two processors, slices of a program's work with
samples took so much more processor time, that of all threads, than those without them (medians of pairs, of which the middle half
lies 1 to 2 points around it; slices that are the same differ by up to 0.5):

                               100 a second        1,000 a second
    a loop that allocates      0.3 % (0.2)         2.3 % (2.0)
    perltidy                   0.3 % (0.1)         2.4 % (0.7)
    Mojolicious application    0.8 % (0.3)         4.2 % (1.3)

In parentheses, what a thread takes that wakes as often and does nothing else. The time that passes becomes longer by -0.2 to 0.3 %
with 100 samples a second, by 0.3, 0.6 and 1.7 % with 1,000, as another processor is free for that thread. Beginning and end of the
profile, half a millisecond, come once a process. F<bench/always-on/sampling> of the distribution measures the table here and now,
beside the noise. C<sample_budget=> is the bound that the recorder keeps to by itself.

=head1 THREADS

Each thread (L<threads>) writes a profile of its own beside the program's: F<nytprof.out.t1> is that of the
thread whose C<< threads->tid >> is 1. Give them all to L<nytp-export(1)>, which adds them up and shows each thread as a
track in timelines (C<--speedscope>, C<--firefox>, C<--chrome-trace>) and below the thread that made it
(C<--processes>), or make one file of them with L<nytprofmerge>:

    $ NYTPROF=file=work.out perl -d:NYTProf work.pl
    $ nytp-export --top work.out work.out.t*

A thread's file has its end when the thread's sub has returned, died or exited, whether or not it is ever
joined; what its objects' destructors do when it is joined is added. When the program ends while a thread runs,
that thread's profile ends with what was put on disk last (C<flush>) and is reported as partial; so does that of
the first thread, when another calls C<exit>, and those of all threads but the one that gets the signal with
C<sigexit>. What perl does to make a thread, with the C<CLONE> methods of the program, is in no profile but as the
time of C<< threads->create >>.

C<DB::disable_profile()>, C<DB::enable_profile()> and C<DB::finish_profile()> are for the thread that calls them. A thread
begins as the one that makes it: recording, or not. Names of string evals are counted by each thread for itself, so
C<(eval 7)> may be another one in another thread. When a thread forks, the child goes on with this thread alone, in
F<nytprof.out.PID.t1>.

With C<sample=> each thread is sampled for itself.

Commands of L<nytp-ctl> are for all threads: each obeys at its own next statement, branch or loop, and writes a file of
its own. Where some run, those that sleep, as a thread does that joins another, are not waited for: they obey what was
asked last when they wake. C<sigcontrol> is passed on to all by the first thread, when it sees the signal.

A thread costs about a millisecond and 0.4 MB, beside what perl takes to clone an interpreter.

=head1 SIZE

Before compression a statement takes 5 to 10 bytes and a call with its own statements 25 to 40, of which
on real programs a quarter to a tenth is left: 2 to 9 MB for a million calls, besides the program's source.
C<calls=2> written out takes twice as much (L</calls=N>), C<calls=1> leaves out the entries, C<calls=0> all single
calls; C<slowops=0> leaves out builtins.

=head1 LIMITS

Coroutines (L<Coro>) have a stack each, which a profile cannot say: a call that is open while another
coroutine runs is the caller of what runs there. Times of statements and exclusive times are right,
inclusive times and callers across coroutines are not. A sub that was suspended (C<async sub> of
L<Future::AsyncAwait>) and goes on later is listed with its time under what resumed it, there with 0
calls: it counts as one call from where it was called first. In time lines each part is a span.

A call by AUTOLOAD, or of an object that is code by overloading, takes 24 bytes until the scope ends that it stands in. That
is at once in the rounds of loops; the block of C<first> or C<any> (L<List::Util>) goes on until all of its rounds are done.

Where perl is embedded, interpreters that are there at the same time have profiles like threads, those that are made
one after another like programs of one run.

Of code that was compiled before the module was loaded, insides of F<strict.pm>, which it loads itself,
and F<XSLoader.pm> are recorded only where a running program loads it. A module that has put its
own code in the place of an op keeps that: its calls are not seen while that is so. Sorting subs and
blocks of List::Util that run when recording begins are part of the sub around them.

=head1 SEE ALSO

L<nytprofcg>, L<nytprofcsv>, L<nytprofcalls>, L<nytprofmerge>, nytp-export(1),
L<Devel::NYTProf::Data>, L<Devel::NYTProf::ReadStream>

=head1 LICENSE

This library is free software; you can redistribute it and/or modify it under the same terms as
Perl itself.

=cut
