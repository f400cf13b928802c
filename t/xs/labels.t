# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# DB::label() and DB::label_profile(): what the stream holds, and what --by=label makes of it,
# compared with sums from the stream's own records.

use lib 't/lib';
use NYTPTest;

use Config;
use List::Util qw(sum0);
use Devel::NYTProf::ReadStream qw(for_chunks);

my $EXPORT = root() . '/bin/nytp-export';
plan skip_all => 'nytp-export is not built' if !-x $EXPORT;

my $SPIN = 'sub spin { my $t = 0; for my $i (1 .. $_[0]) { $t += $i } return $t }';
my $CODE = <<"P";
$SPIN
sub fast { spin(300) }
sub slow { spin(6000) }
sub request {
    my (\$n) = \@_;
    DB::label(request => \$n % 2 ? 'GET /fast' : 'GET /slow');
    \$n % 2 ? fast() : slow();
    DB::label(request => undef);
}
request(\$_) for 1 .. 10;
spin(9000);
DB::label_profile(run => 'all');
P

# Returns nytp-export's table: key => { value => [n, total, median, p95, own in ns, slowest sub] }.
sub by_label {
    my ($run, $what, @files) = @_;
    my $r = run_in($run, $EXPORT, '--unit=ns', '--as-recorded', "--by=$what", @files);
    my (%by, $has_file, $key);
    for my $line (split /\n/, $r->{out}) {
        if ($line =~ /^ +n .* slowest sub +(slowest in +)?(.*)\z/) { ($has_file, $key) = ($1, $2); next }
        my ($n, $total, $median, $p95, $own, $sub, $value) = $line =~ /^ *(\d+)(?: +([\d.-]+))(?: +([\d.-]+))(?: +([\d.-]+))(?: +[\d.-]+)(?: +([\d.-]+))(?: +[\d.]+%){0,2}(?: +(?:-|-?[\d.]+ [kMGT]?B))?(?: +-?\d+)?  (\S+)(?: \S+:\d+)? +(.*)\z/
            or next;
        $value =~ s/^\S+ +// if $has_file;
        $by{$key}{$value} = [$n, $total, $median, $p95, $own, $sub];
    }
    return (\%by, $r);
}

# The same from the records: lengths in ns by "key=value", own ns by "key=value" and sub.
sub from_records {
    my ($file) = @_;
    my (%now, %since, %lengths, %own, @told);
    for_chunks {
        my ($tag, @a) = @_;
        if ($tag eq 'COMMENT' && $a[0] =~ /^nytp-own (\d+) (-?\d+) (.*)\n/) {
            $told[$1] += $2;
            $own{"$_=$now{$_}"}{$3} += $2 * 100 for keys %now;
        } elsif ($tag eq 'COMMENT' && $a[0] =~ /^nytp-label (\d+) ([^=\n]+)(?:=(.*))?\n/) {
            push @{ $lengths{"$2=$now{$2}"} }, ($1 - $since{$2}) * 100 if exists $now{$2};
            delete $now{$2};
            @since{$2} = $1, $now{$2} = $3 if defined $3;
        } elsif ($tag eq 'SUB_RETURN') {
            my ($depth, undef, $excl, $name) = @a;
            $own{"$_=$now{$_}"}{$name} += ($excl - ($told[$depth] || 0)) * 100 for keys %now;
            $#told = $depth - 1 if $#told >= $depth;
        }
    } filename => $file;
    return (\%lengths, \%own);
}

sub near { my ($x, $y) = @_; return abs($x - $y) <= 200 + 0.003 * $y }

for my $opts ('', 'calls=1', 'calls=1:compress=0', 'stmts=0', 'blocks=1', 'slowops=0:savesrc=0') {
    my $run = run_prog(code => $CODE, opts => $opts);
    is $run->{out} . $run->{err} . $run->{status}, 0, "$opts: the program is as ever";
    my ($by, $r) = by_label($run, 'label', 'nytprof.out');
    my ($lengths, $own) = from_records("$run->{dir}/nytprof.out");
    is $r->{err} . $r->{status}, 0, "$opts: --by=label works";
    is_deeply [sort keys %$by], [qw(request run)], "$opts: the keys";
    for my $value ('GET /fast', 'GET /slow') {
        my ($n, $total, $median, $p95, $own_ns, $sub) = @{ $by->{request}{$value} || [] };
        my @sorted = sort { $a <=> $b } @{ $lengths->{"request=$value"} };
        my $own_of = $own->{"request=$value"};
        my ($slowest) = sort { $own_of->{$b} <=> $own_of->{$a} } sort keys %$own_of; # spin(), but where others interrupt
        is "$n $sub", "5 $slowest", "$opts: $value: five times, and the slowest sub";
        is $total, sum0(@sorted), "$opts: $value: the total";
        ok near($median, $sorted[2]), "$opts: $value: the median" or diag "$median, @sorted";
        ok near($p95, $sorted[4]), "$opts: $value: p95" or diag "$p95, @sorted";
        is $own_ns, $own_of->{$slowest}, "$opts: $value: the sub's own time";
        cmp_ok sum0(values %$own_of), '<=', $total, "$opts: $value: no more than there is";
    }
    is $by->{run}{all}[0], 1, "$opts: the profile as a whole";
    my $whole = sum0(map { @{ $lengths->{"request=$_"} } } 'GET /fast', 'GET /slow');
    cmp_ok $by->{run}{all}[1], '>', $whole, "$opts: is longer than its requests";
}

scenario 'without calls the times are known, the subs are not' => sub {
    my $run = run_prog(code => $CODE, opts => 'calls=0');
    my ($by) = by_label($run, 'label=request', 'nytprof.out');
    is_deeply [map { [@$_[0, 4, 5]] } @{ $by->{request} }{'GET /fast', 'GET /slow'}], [[5, '-', '-'], [5, '-', '-']],
        'rows';
    is_deeply [keys %$by], ['request'], 'of one key';
};

scenario 'a call that is open when the label changes: each label has its part' => sub {
    my $run = run_prog(opts => 'clock=1', env => { stepping_clock() }, code => <<'P');
sub deep {
    my $n = shift;
    return deep($n - 1) if $n;
    my $t = 0;
    DB::label(a => 1);
    for my $i (1 .. 3000) { $t += $i }
    DB::label(a => 2);
    for my $i (1 .. 3000) { $t += $i }
    DB::label(a => undef);
}
deep(300);
P
    my ($by) = by_label($run, 'label', 'nytprof.out');
    for my $value (1, 2) {
        my ($n, $total, undef, undef, $own, $sub) = @{ $by->{a}{$value} };
        is "$n $sub", '1 main::deep', "$value: the sub that runs";
        cmp_ok $own, '>', 0.9 * $total, "$value: has nearly all" or diag "$own of $total";
    }
    my $told = comments("$run->{dir}/nytprof.out", qr/^nytp-own/);
    cmp_ok $told, '<=', 301 + 4, 'calls that have not run since the last change are not told again';
};

sub comments {
    my ($file, $pattern) = @_;
    return grep { $_ =~ $pattern } @{ read_profile($file)->{comments} };
}

sub labels { return map {s/^nytp-label(?:-profile)? (?:\d+ )?//r} comments($_[0], qr/^nytp-label/) }

scenario 'any text is a key and a value' => sub {
    my $run = run_prog(code => <<'P');
DB::label("a=\n\\" => "x=y\t\0z");
DB::label("\x{e9}" => "\x{263a}", empty => '', number => 1.5);
DB::label('' => 'no key', undef, 'none');
DB::label(long => "\x{263a}" x 3000);
DB::label(obj => Text->new);
package Text; sub new { bless [] } use overload '""' => sub { DB::label(inner => 1); 'told' }; 
P
    my @labels = labels("$run->{dir}/nytprof.out");
    is $labels[0], 'a\x3d\x0a\x5c=x=y\x09\x00z', 'control characters, the backslash and the = of a key are escaped';
    is $labels[1], "\xc3\xa9=\xe2\x98\xba", 'the rest is UTF-8';
    is "$labels[2] $labels[3]", 'empty= number=1.5', 'an empty value, a number';
    is $labels[4], 'long=' . ("\xe2\x98\xba" x 1333) . '...', 'a long value is cut between characters';
    is "@labels[5 .. $#labels]", 'inner=1 obj=told', 'an object is asked for its text, an empty key is none';
    my ($by, $r) = by_label($run, 'label', 'nytprof.out');
    is $r->{status}, 0, 'and the table holds them';
    like $r->{out}, qr/slowest sub +a\\x3d\\x0a\\x5c\n.*x=y\\x09\\x00z\n/, 'as they are written';
};

scenario 'bytes that are UTF-8 are not encoded again' => sub {
    my $run = run_prog(code => <<'P');
DB::label("k\xc3\xa9" => "caf\xc3\xa9 \xe2\x98\xba", latin => "caf\xe9 \xc3\xa9", surrogate => "\xed\xa0\x80");
DB::label_profile(all => "\xc3\xa9");
my $characters = "\xc3\xa9\x{263a}";
chop $characters;
DB::label(characters => $characters, object => bless [], 'Text');
DB::label(long => "\xc3\xa9" x 3000, cut => 'x' . "\xc3\xa9" x 3000);
package Text; use overload '""' => sub { print 'asked'; "\xc3\xa9" };
P
    my %label = map { split /=/, $_, 2 } labels("$run->{dir}/nytprof.out");
    is $label{"k\xc3\xa9"}, "caf\xc3\xa9 \xe2\x98\xba", 'key and value';
    is $label{all}, "\xc3\xa9", 'of a profile';
    is $label{latin}, "caf\xc3\xa9 \xc3\x83\xc2\xa9", 'a text that is not UTF-8 as a whole is Latin-1';
    is $label{surrogate}, "\xc3\xad\xc2\xa0\xc2\x80", 'as is what no UTF-8 may hold';
    is $label{characters}, "\xc3\x83\xc2\xa9", 'characters are what they are';
    is "$run->{out} $label{object}", "asked \xc3\xa9", 'an object is asked once';
    is $label{long}, "\xc3\xa9" x 2000 . '...', 'at most so many bytes';
    is $label{cut}, 'x' . "\xc3\xa9" x 1999 . '...', 'and no part of a character';
};

scenario 'wrong use dies, as any function does; nothing else does' => sub {
    my $run = run_prog(code => 'eval { DB::label("a"); 1 } or print $@; eval { DB::label_profile(1, 2, 3); 1 } or print $@; DB::label(); DB::label(x => undef); DB::label("k$_" => 1) for 1 .. 102; print "on\n"');
    like $run->{out}, qr/\AUsage: DB::label\(KEY => VALUE, \.\.\.\) at .*\nUsage: DB::label_profile\(KEY => VALUE, \.\.\.\) at .*\non\n\z/, 'messages';
    is $run->{err}, "Devel::NYTProf: more than 100 labels at once: the rest is left out\n", 'too many are said once';
    is scalar(labels("$run->{dir}/nytprof.out")), 100, 'and left out';
};

scenario 'a child has the labels of its parent, and so does the next profile' => sub {
    my $run = run_prog(code => <<"P");
$SPIN
DB::label(job => 'parent');
if (my \$pid = fork) { waitpid \$pid, 0 } else { DB::label(job => 'child'); spin(500); exit }
DB::enable_profile('second.out');
spin(500);
DB::label(job => undef);
P
    my ($child) = glob "$run->{dir}/nytprof.out.*";
    is_deeply [labels($child)], ['job=parent', 'job=child'], 'the child';
    is_deeply [labels("$run->{dir}/nytprof.out")], ['job=parent'], 'the first profile of the parent';
    is_deeply [labels("$run->{dir}/second.out")], ['job=parent', 'job'], 'the second';
    my ($by) = by_label($run, 'label=job', glob "$run->{dir}/*.out*");
    is_deeply {map { $_ => $by->{job}{$_}[0] } keys %{ $by->{job} }}, {parent => 3, child => 1}, 'together';
};

# Stretches of known work: a clock that is read in them would be sampled, too, and more often than it
# takes time where a busy machine stops programs in system calls.
my $STRETCHES = <<"P";
use Time::HiRes qw(clock_gettime CLOCK_THREAD_CPUTIME_ID);
$SPIN
my \$from = clock_gettime(CLOCK_THREAD_CPUTIME_ID);
for (1 .. 150) {
    for my \$times (1, 3) {
        DB::label(request => "x\$times");
        spin(45000 * \$times);
        DB::label(request => undef);
    }
}
print clock_gettime(CLOCK_THREAD_CPUTIME_ID) - \$from, "\\n";
P

# Returns what is wrong with their profile, as lines of text.
sub wrong_stretches {
    my ($run) = @_;
    my ($by) = by_label($run, 'label=request', 'nytprof.out');
    my $whole = $run->{out} * 1e9;
    my $seen = sum0(map { $_->[1] } values %{ $by->{request} });
    my $samples = profile_in($run)->{attr}{samples};
    my @wrong = abs($seen - $whole) > 0.3 * $whole ? "together $seen of $whole ns" : ();
    for my $times (1, 3) {
        my ($n, $total, undef, undef, $own, $sub) = @{ $by->{request}{"x$times"} || [0, 0, 0, 0, 0, ''] };
        my $share = $times / 4;
        my $chance = 6 * sqrt($share * (1 - $share) / ($samples || 1)); # Chance: 2e-9 (six standard deviations)
        push @wrong, "x$times: $n times $sub" if "$n $sub" ne '150 main::spin';
        push @wrong, "x$times: $total of $seen ns, $samples samples" if abs($total - $share * $seen) > (0.03 + $chance) * $seen;
        push @wrong, "x$times: $own ns of $total are main::spin's" if abs($own - $total) > 0.05 * $total;
    }
    return @wrong;
}

scenario 'sampling: labels lie on the axis of the samples' => sub {
    my @wrong = wrong_stretches(run_prog(opts => 'sample=2000:sample_clock=cpu:sample_budget=0', code => $STRETCHES));
    is "@wrong", '', 'together as long as they were, one a third of the other, all of it in the sub';
};

scenario 'sampling: how long a label lasts is told by the clock' => sub {
    my $run = run_prog(opts => 'sample=10', code => <<'P');
use Time::HiRes 'clock_gettime', 'CLOCK_MONOTONIC';
my $from = clock_gettime(CLOCK_MONOTONIC);
for my $ms (map { ($_) x 10 } 1, 4) {
    DB::label(wait => $ms);
    select undef, undef, undef, $ms / 1000;
    DB::label(wait => undef);
}
print clock_gettime(CLOCK_MONOTONIC) - $from;
P
    my ($by) = by_label($run, 'wait', 'nytprof.out');
    my %least = map { $_ => $by->{wait}{$_}[2] } 1, 4;
    cmp_ok $least{$_}, '>=', $_ * 1e6 * 0.99, "half of them are no shorter than the wait of $_ ms" for 1, 4;
    cmp_ok $by->{wait}{1}[1] + $by->{wait}{4}[1], '<=', $run->{out} * 1e9 * 1.01, 'together no longer than the program';
};

scenario 'sampling: a request with a profile of its own is recorded exactly' => sub {
    my $run = run_prog(opts => 'sample=1000', code => <<"P");
use Devel::NYTProf::Requests;
$SPIN
sub served { spin(10) }
my \$requests = Devel::NYTProf::Requests->new(dir => 'prof');
for my \$i (1 .. 2) {
    my \$request = \$requests->begin("GET /\$i");
    served() for 1 .. 7;
    \$request->finish(200);
    my \$until = times() + 0.4;    # of a processor's time: on a busy machine the first tick comes late
    spin(10_000) while times() < \$until;
}
P
    is $run->{err} . $run->{status}, 0, 'nothing is said';
    my @files = sort glob "$run->{dir}/prof/*.out";
    is @files, 2, 'each has its file';
    for my $file (@files) {
        my $r = run_in($run, $EXPORT, '--json', $file);
        like $r->{out}, qr/"name":"main::served"[^{}]*"calls":7,/, 'with all calls';
        unlike $r->{out}, qr/"sampled":true/, 'and no samples';
    }
    my ($by) = by_label($run, 'request', @files);
    is_deeply [sort keys %{ $by->{request} }], ['GET /1 200', 'GET /2 200'], 'and its label';
    my $r = run_in($run, $EXPORT, '--top', 'nytprof.out');
    like $r->{out}, qr/\bmain::spin\b/, 'what runs between them is in the samples';
    like $r->{err} . $r->{status}, qr/\A0\z/, 'whose profile is whole';
};

scenario 'a thread has the labels of the one that makes it' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    for my $opts ('', 'sample=1000') {
        my $run = run_prog(opts => $opts, code => "use threads;\n$SPIN\nDB::label(job => 'main', tenant => 7); threads->create(sub { spin(9000); DB::label(job => 'thread'); spin(90000) })->join; DB::label(job => undef);");
        is_deeply [sort { $a cmp $b } labels("$run->{dir}/nytprof.out.t1")], ['job=main', 'job=thread', 'tenant=7'], "'$opts': the thread";
        is_deeply [labels("$run->{dir}/nytprof.out")], ['job=main', 'tenant=7', 'job'], "'$opts': its maker keeps its own";
    }
};

scenario 'before recording, in a pause, after the end' => sub {
    my $run = run_prog(opts => 'start=no', code => <<"P");
$SPIN
DB::label(early => 1);
DB::label_profile(lost => 1);
DB::enable_profile();
DB::disable_profile();
DB::label(paused => 1);
DB::enable_profile();
DB::finish_profile();
DB::label(late => 1);
DB::label_profile(late => 1);
P
    is $run->{err}, '', 'nothing is said';
    is_deeply [labels("$run->{dir}/nytprof.out")], ['early=1', 'paused=1'], 'what is in the profile';
};

scenario 'a stream that is cut off anywhere' => sub {
    my $run = run_prog(code => $CODE, opts => 'compress=0');
    my $whole = slurp("$run->{dir}/nytprof.out");
    my $at = index $whole, 'nytp-label ';
    my ($n_last, $worst) = (0, 0);
    for my $size (map { $at + 37 * $_ } 0 .. 40) {
        put("$run->{dir}/cut.out", substr $whole, 0, $size);
        my ($by, $r) = by_label($run, 'label', 'cut.out');
        my $n = sum0(map { $_->[0] } values %{ $by->{request} });
        $worst++ if $n < $n_last || $r->{status} !~ /^[03]\z/;
        $n_last = $n;
    }
    is $worst, 0, 'cut: what came before is shown, and the status tells';
};

scenario 'sql=1: the statements that DBI runs' => sub {
    plan skip_all => 'DBD::SQLite is not installed' if !eval { require DBD::SQLite };
    my $code = <<'P';
require DBI;
my $dbh = DBI->connect('dbi:SQLite:dbname=:memory:', '', '', {RaiseError => 1, PrintError => 0});
$dbh->do('create table t (a,b)');
my $insert = $dbh->prepare("insert into t\n values (?,?)");
$insert->execute($_, "secret$_") for 1 .. 5;
$dbh->selectall_arrayref('select * from t where a > ?', undef, 2) for 1 .. 2;
my $read = $dbh->prepare("select b from t where b != 'caf\xc3\xa9'");    # a program without use utf8
print scalar @{ $dbh->selectcol_arrayref($read) }, "\n";
eval { $dbh->do('bad') };
print $@ =~ /syntax/ ? "error\n" : "none\n";
$! = 5;
$dbh->do('insert into t values (9,?)', undef, 'secret9');
print $! + 0, "\n";
open STDERR, '>', '/dev/null'; # where DBI dumps what is no handle
my $stranger = bless {}, 'DBI::st';
eval { $stranger->execute('secret') };
eval { DBI::db::do($_, 'secret') } for undef, 'x', [], {};
eval { DBI::st::execute() };
my ($row) = $dbh->selectrow_array('select a from t');
P
    my $plain = run_plain(code => $code);
    my $run = run_prog(code => $code, opts => 'sql=1');
    is $run->{out} . $run->{err}, $plain->{out} . $plain->{err}, 'the program is as ever';
    my ($by) = by_label($run, 'label', 'nytprof.out');
    my %n = map { $_ => $by->{sql}{$_}[0] } keys %{ $by->{sql} };
    is delete $n{secret}, 4, 'what stands where a statement is expected is one';
    is_deeply \%n, {
        'create table t (a,b)' => 1, 'insert into t\x0a values (?,?)' => 5, 'select * from t where a > ?' => 2,
        "select b from t where b != 'caf\xc3\xa9'" => 1, bad => 1, 'insert into t values (9,?)' => 1, 'select a from t' => 1,
    }, 'each call once, those within it left out' or diag explain \%n;
    is scalar(grep { /secret\d/ } labels("$run->{dir}/nytprof.out")), 0, 'no bound value';
    is_deeply [grep { /^sql/ } labels(run_prog(code => $code)->{dir} . '/nytprof.out')], [], 'only if asked for';
};

scenario 'labels of a profile in other formats' => sub {
    require JSON::PP;
    my $run = run_prog(code => 'DB::label_profile(request => "GET /x", tenant => "a\"b"); DB::label_profile(request => "GET /x 200");');
    run_prog(code => 'DB::label_profile(request => "other");', opts => 'file=other.out', dir => $run->{dir});
    my @labels = map { $_->{labels} } @{ JSON::PP::decode_json(exported($run, '--json', 'nytprof.out', 'other.out'))->{processes} };
    is_deeply \@labels, [{request => 'GET /x 200', tenant => 'a"b'}, {request => 'other'}], 'JSON: the last value of each key';
    my ($n, %with) = (0);
    for my $sample (exported($run, '--pprof-text', 'nytprof.out', 'other.out') =~ /^sample \{\n(.*?)^\}/msg) {
        $n++;
        $with{"$1 $2"}++ while $sample =~ /label \{\n +key: (\d+)\n +str: (\d+)/g;
    }
    my @strings = exported($run, '--pprof-text', 'nytprof.out', 'other.out') =~ /^string_table: "(.*)"$/mg;
    my %named = map { my ($k, $v) = split / /; ("$strings[$k]=$strings[$v]" => $with{$_}) } keys %with;
    is $named{'request=GET /x 200'} + $named{'request=other'}, $n, 'pprof: a label of each sample' or diag explain \%named;
    is $named{'tenant=a\\"b'}, $named{'request=GET /x 200'}, 'all of its process';
    unlike exported($run, '--pprof-text', '--labels=none', 'nytprof.out', 'other.out'), qr{GET /x}, 'not where processes are merged';
};

scenario 'usage' => sub {
    my $run = run_prog(code => '1;');
    my %said = ('--by=label' => '0 nytp-export: no labels in the input: a program sets them with DB::label(KEY => VALUE)',
        '--by=label=x' => '1 nytp-export: no label x in the input');
    for my $option (sort keys %said) {
        my $r = run_in($run, $EXPORT, $option);
        is "$r->{status} $r->{out}$r->{err}", "$said{$option}\n", $option;
    }
    for my $options (['--by=label='], ['--by'], ['--by=label', '--focus=x'], ['--by=label', '--stats'], ['--by=label', '--top'],
        ['--by=label', '--group=x'], ['--by=label', '--group=s/a/b'], ['--by=label', '--group=s/(/x/'], ['--by=label', '--group=s/a/b/e']) {
        my $r = run_in($run, $EXPORT, @$options);
        is $r->{status}, 2, "@$options";
    }
};

scenario 'arguments are fetched once, and before the text of any is made' => sub {
    my $run = run_prog(code => <<'P');
package Key; use overload '""' => sub { @main::all = (); push @reused, "reused $_" for 1 .. 100; 'key' };
package Counted; sub TIESCALAR { bless [] } sub FETCH { $fetched++; 'fetched' }
package main;
our @all = (bless([], 'Key'), 'value' . $$ * 0);
DB::label(@all);
tie my $counted, 'Counted';
DB::label(tied => $counted);
print $Counted::fetched;
P
    is $run->{out}, 1, 'fetched once';
    my @labels = labels("$run->{dir}/nytprof.out");
    is "@labels", 'key=value0 tied=fetched', 'what they were';
};

done_testing;
