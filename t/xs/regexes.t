# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# regex=1: what the comments of the stream tell of each regular expression, by place and pattern.

use lib 't/lib';
use NYTPTest;
use Extended;

use Config;
use List::Util qw(max sum0);

# [kind, line, pattern] => {calls, found, compiled, ns, max_ns, max_len, sizes}, added up.
sub regexes {
    my ($file, $is_cut) = @_;
    my $p = read_profile($file);
    die $p->{error} if $p->{error} && !$is_cut;
    my %seen;
    for (map { /^nytp-regex (.*)/ ? $1 : () } @{ $p->{comments} }) {
        my ($kind, $fid, $line, $calls, $found, $compiled, $ns, $max, $len, $sizes, $pattern) = split / /, $_, 11;
        next if ($p->{fid}{$fid}{name} // '') !~ /prog\.pl|eval/;
        my $row = $seen{"$kind $line $pattern"} ||= { sizes => '' };
        $row->{calls} += $calls;
        $row->{found} += $found;
        $row->{compiled} += $compiled;
        $row->{ns} += $ns;
        @$row{qw(max_ns max_len)} = ($max, $len);
        $row->{sizes} .= $sizes;
    }
    return \%seen;
}

sub of_code { return regexes(run_prog(opts => 'regex=1', @_)->{dir} . '/nytprof.out') }

sub counts { my ($seen) = @_; return { map { ($_ => "$seen->{$_}{calls} $seen->{$_}{found}") } keys %$seen } }

scenario 'calls and finds are exact, by place and pattern' => sub {
    my $seen = of_code(code => <<'P');
my @all = map { "x" x $_ . ($_ % 3 ? "a1" : "b") } 1 .. 30; my $n;
for (@all) { $n++ if /a\d/; }
for (@all) { my @found = /(a)(\d)/; }
for my $s (@all) { my @found = $s =~ /x/g; }
for my $s (@all) { while ($s =~ /x/g) { $n++ } }
for my $s (@all) { (my $t = $s) =~ s/b$/c/i; }
for my $s (@all) { my $t = $s =~ s/b$/c/r; }
for my $s (@all) { (my $t = $s) =~ s/(x)/uc $1/ge; }
for my $s (@all) { my @parts = split /a/, $s; my $m = () = split /a/, $s; our @p = split /b/, $s; @{[]} = split /q/, $s; }
for my $s (@all) { (my $t = $s) =~ tr/x//d; }
for my $s (@all) { for my $p ("a", "b") { $n++ if $s =~ /$p/; } }
P
    is_deeply counts($seen), {
        'match 2 a\\d' => '30 20', 'match 3 (a)(\\d)' => '30 20', 'match 4 x' => '30 30',
        'match 5 x' => sum0(1 .. 30) + 30 . ' ' . sum0(1 .. 30), 'subst 6 (?^i:b$)' => '30 10', 'subst 7 b$' => '30 10',
        'subst 8 (x)' => '30 30', 'split 9 a' => '60 60', 'split 9 b' => '30 30', 'split 9 q' => '30 30', 'tr 10 ' => '30 30',
        'match 11 a' => '30 20', 'match 11 b' => '30 10', 'compile 11 a' => '30 0', 'compile 11 b' => '30 0' },
        'each kind of operation';
    is $seen->{'compile 11 a'}{compiled}, 30, 'two patterns in turn are compiled each time';
    is_deeply [grep { sum0($seen->{$_}{sizes} =~ /(?:^|,)(\d+):/g) != $seen->{$_}{calls} } keys %$seen], [], 'sizes add up to calls';
    is_deeply [grep { sum0($seen->{$_}{sizes} =~ /(?:^|,)\d+:(\d+):/g) > $seen->{$_}{ns} } keys %$seen], [], 'and to no more than the time';
};

scenario 'what perl does not compile again is no compilation' => sub {
    my $seen = of_code(code => <<'P');
my ($same, $object) = ('a+', qr/b+/);
for my $i (1 .. 40) { my $found = "aab" =~ /$same/ }
for my $i (1 .. 40) { my $found = "aab" =~ $object }
for my $i (1 .. 40) { my $found = "aab" =~ /$object$same/ }
P
    is_deeply { map { my ($line) = /^compile (\d)/; $line ? ($line => "$seen->{$_}{calls} $seen->{$_}{compiled}") : () } keys %$seen },
        { 2 => '40 1', 3 => '40 0', 4 => '40 1' }, 'asked for and done';
};

scenario 'subjects by their length; the longest call' => sub {
    my $seen = of_code(code => <<'P');
for my $len (1, 2, 3, 100, 100, 5000) { my $s = "a" x $len; my $found = $s =~ /[ac]+b/ }
my $long = "a" x 3_000_000; my $found = $long =~ /[ac]$/; $found = "a" =~ /[ac]$/;
P
    my ($row) = values %{ { map { /^match 1 / ? ($_ => $seen->{$_}) : () } keys %$seen } };
    is join(' ', map { /^(\d+):.*:(\d+)$/ ? "$1x$2" : '?' } split /,/, $row->{sizes}), '1x1 2x5 2x200 1x5000',
        'a part for each power of two';
    is $seen->{'match 2 [ac]$'}{max_len}, 3_000_000, 'what the longest searched';
};

scenario 'any pattern is one line of UTF-8' => sub {
    my $seen = of_code(code => <<'P');
use utf8;
my @p = ("\x{263a}|q", "\xe9", "a\nb\t", "z" x 500, "\x{263a}" x 100, "q\\d", "");
for my $p (@p) { my $found = "a\x{263a}" =~ /x{0}$p/ }
P
    my @patterns = sort map { /^match \d+ (.*)/ ? $1 : () } keys %$seen;
    is_deeply \@patterns, [sort 'x{0}', "x{0}\xc3\xa9", "x{0}\xe2\x98\xba|q", 'x{0}a\x0ab\x09', 'x{0}q\d', 'x{0}' . 'z' x 196 . '...',
        'x{0}' . "\xe2\x98\xba" x 65 . '...'],
        'control characters escaped, cut at 200 bytes, but not inside a character';
};

scenario 'more patterns than anybody looks at are one' => sub {
    my $seen = of_code(code => 'for my $i (1 .. 6000) { my $found = "a" =~ /b$i/ }');
    cmp_ok scalar(keys %$seen), '<=', 5010, 'a bound';
    is sum0(map { /^match/ ? $seen->{$_}{calls} : () } keys %$seen), 6000, 'nothing is lost';
    ok exists $seen->{'match 1 (other patterns)'}, 'the rest has a name';
};

scenario 'each process has its own; a child does not tell again what its parent did' => sub {
    my $run = run_prog(opts => 'regex=1', code => <<'P');
my $found = "a" =~ /a/ for 1 .. 7;
if (my $pid = fork) { waitpid $pid, 0 } else { my $found = "b" =~ /b/ for 1 .. 5 }
P
    my ($child) = grep { !/nytprof\.out\z/ } glob "$run->{dir}/nytprof.out*";
    is_deeply counts(regexes("$run->{dir}/nytprof.out")), { 'match 1 a' => '7 7' }, 'the parent';
    is_deeply counts(regexes($child)), { 'match 2 b' => '5 5' }, 'the child';
};

scenario 'a program that is killed has told them, and none twice' => sub {
    my $run = run_prog(opts => 'regex=1', code => <<'P');
use Time::HiRes; my ($from, $n, $found) = (Time::HiRes::time(), 0);
while (Time::HiRes::time() - $from < 0.8) { $found = "ab" =~ /b/; $n++ }
syswrite STDOUT, $n; kill KILL => $$;
P
    my $seen = regexes("$run->{dir}/nytprof.out", 'cut');
    my $told = $seen->{'match 2 b'}{calls} // 0;
    cmp_ok $told, '>', 0, 'told';
    cmp_ok $told, '<=', $run->{out}, 'no more than there were';
};

scenario 'what is told in parts adds up' => sub {
    my $run = run_prog(opts => 'regex=1', code => <<'P');
use Time::HiRes; my ($from, $n, $found) = (Time::HiRes::time(), 0);
while (Time::HiRes::time() - $from < 0.5) { $found = "ab" =~ /b/; $n++ }
print $n;
P
    my $seen = regexes("$run->{dir}/nytprof.out");
    is "$seen->{'match 2 b'}{calls} $seen->{'match 2 b'}{found}", "$run->{out} $run->{out}", 'exact all the same';
};

scenario 'nothing while recording is off, and each file its own' => sub {
    my $run = run_prog(opts => 'regex=1', code => <<'P');
sub look { my $found = "a" =~ /a/ }
look() for 1 .. 3; DB::disable_profile(); look() for 1 .. 20; DB::enable_profile('second.out'); look() for 1 .. 4;
P
    is_deeply counts(regexes("$run->{dir}/nytprof.out")), { 'match 1 a' => '3 3' }, 'the first';
    is_deeply counts(regexes("$run->{dir}/second.out")), { 'match 1 a' => '4 4' }, 'the second';
};

scenario 'an end that is taken back loses nothing' => sub {
    my $code = 'sub f { $_[0] =~ /a\d/ } for my $i (1 .. 9) { f("a$i") }';
    for my $how ('DB::checkpoint_profile() or die', '{ no warnings; exec "./does-not-exist" }') {
        is_deeply counts(of_code(code => "$code $how; f('a1')")), { 'match 1 a\d' => '10 10' }, $how;
    }
    my $run = run_prog(opts => 'regex=1', code => "$code DB::checkpoint_profile() or die");
    is_deeply counts(regexes("$run->{dir}/nytprof.out.checkpoint")), { 'match 1 a\d' => '9 9' }, 'the checkpoint has it, too';
};

scenario 'the program runs as without: matches, captures, errors, deaths inside' => sub {
    my $code = <<'P';
my @log; $! = 2; "abc" =~ /b(.)/; push @log, "$!", $1, "@-", pos // '-';
our $re = qr/a(?{ push @log, "code" })/; push @log, scalar("ba" =~ $re);
push @log, eval { "a" =~ /a(?{ die "inside\n" })/; 1 } // "died $@"; push @log, eval { my $p = "("; "a" =~ /$p/ } // "bad: " . ($@ =~ /Unmatched/);
for my $s ("aXbX", "") { my $t = $s; my $n = $t =~ s/X/<$&>/g; push @log, $t, $n; }
{ package Over; use overload '""' => sub { "o" =~ /o/; "over" }, fallback => 1 } my $o = bless [], 'Over'; push @log, $o =~ /ver/ ? "yes" : "no";
my $evil = eval 'sub { $_[0] =~ /e(v)/ ? $1 : "-" }'; push @log, map { $evil->($_) } "evil", "good"; eval "push \@log, 'x' =~ /x$_/ ? 1 : 0" for 1 .. 3;
print join("|", @log), "\n"; exit 3;
P
    my ($plain, $ours) = (run_plain(code => $code), run_prog(code => $code, opts => 'regex=1'));
    is $ours->{out}, $plain->{out}, 'its output';
    like $plain->{out}, qr/died inside.*\|yes\|v\|-/s, 'which tells something';
    is $ours->{status}, $plain->{status}, 'its status';
    my $seen = regexes("$ours->{dir}/nytprof.out");
    is $seen->{'match 5 ver'}{calls}, 1, 'a match that runs code with matches';
};

scenario 'a pattern has the time of its builtin, to which measuring it adds nothing' => sub {
    my $code = 'my ($n, $long) = (0, "ab" x 40_000); for my $i (1 .. 50) { $n++ if $long =~ /b[c]/; (my $t = $long) =~ s/b[c]//; }';
    my $run = run_prog(opts => 'regex=1', code => $code);
    my $seen = regexes("$run->{dir}/nytprof.out");
    my $costs = max(map { /^nytp-costs .*\bop_in=(\d+)/ ? $1 : () } @{ profile_in($run)->{comments} });
    for my $op (qw(match subst)) {
        my ($own) = map { $_->{excl} * 1e9 } arcs_to(profile_in($run), "main::CORE:$op");
        my ($told) = map { $seen->{$_}{ns} } grep { /^$op 1 / } keys %$seen;
        cmp_ok $told, '<=', $own + 1, "$op: no more than the builtin took";
        cmp_ok $told, '>=', $own - 50 * (2 * $costs / 1000 + 2), 'and less only by what recording took';
    }
    return if sanitized(); # two libraries to preload
    my @own = map {
        my $p = profile_in(run_prog(opts => "clock=1:regex=$_", env => { stepping_clock() }, code => $code));
        +{ map { ($_->{callee} => $_->{excl} * 1e6) } @{ $p->{arc} } };
    } 0, 1;
    for my $op (qw(main::CORE:match main::CORE:subst)) {
        cmp_ok $own[1]{$op}, '<', $own[0]{$op} + 20, "$op: the clock is not read once more in each of 50 calls";
        cmp_ok $own[0]{$op}, '>=', 50, 'as it is once without';
    }
};

scenario 'with and without builtins as subs; nothing without the option' => sub {
    my $code = 'my $found; for my $i (1 .. 9) { $found = "a$i" =~ /a\d/ }';
    is_deeply counts(of_code(code => $code, opts => "regex=1:$_")), { 'match 1 a\d' => '9 9' }, $_
        for qw(slowops=0 slowops=1 subs=0 calls=0 stmts=0 blocks=1);
    is_deeply regexes(run_prog(code => $code)->{dir} . '/nytprof.out'), {}, 'not asked for';
};

# Each is at work for so much of the processor's time that samples see it on a busy machine, too; such a one takes the processor away mostly in
# system calls, so there are few.
scenario 'samples: the operation in progress, with its time' => sub {
    my $code = <<'P';
my ($text, $n) = ("key=value; " x 3000, 0);
sub spent { my ($user, $system) = times; return $user + $system }
sub during { my ($seconds, $times, $code) = @_; my $end = spent() + $seconds; do { $code->() for 1 .. $times } while spent() < $end }
during(0.6, 30, sub { $n++ while $text =~ /(\w+)=/g });
during(0.2, 50, sub { my @parts = split /;\s*/, $text; $n += @parts });
during(0.2, 150, sub { (my $copy = $text) =~ s/a[l]/b/g; $n += $copy =~ tr/b//; });
during(0.2, 8000, sub { my $pattern = "v[a]l" . ($n++ % 3); $n += $text =~ /$pattern/ });
print spent();
P
    # Chance: 1e-9 (one of the four is not seen in 50 samples and more, or 150 of one are fewer than 50 of another)
    my $run = run_prog(opts => 'regex=1:sample=1000:sample_clock=cpu:sample_budget=0', code => $code);
    is $run->{err} . $run->{status}, '0', 'nothing is said';
    my $seen = regexes("$run->{dir}/nytprof.out");
    my %ns;
    for my $key (sort keys %$seen) {
        my ($op, $line, $pattern) = split / /, $key, 3;
        $pattern =~ s/\d\z/N/;
        $ns{"$op $line $pattern"} += $seen->{$key}{ns};
        is join("", map { $seen->{$key}{$_} } qw(found compiled max_ns max_len)), "0000", "$key: what samples do not know is not told";
    }
    ok $ns{$_}, "$_ is seen" for 'match 4 (\w+)=', 'split 5 ;\s*', 'subst 6 a[l]', 'match 7 v[a]lN';
    cmp_ok $ns{'match 4 (\w+)='}, '>', $ns{'split 5 ;\s*'}, 'what takes longer has more' or diag explain \%ns;
    my $all = 0;
    $all += $_ for values %ns;
    cmp_ok $all, '<=', 1e9 * all_seconds(profile_in($run)), 'all of them have no more than there was';
    cmp_ok $all, '>=', 0.3e9 * $run->{out} / 1.2, 'and much of it' or diag explain \%ns;
};

scenario 'samples: operations that are gone when they are looked at' => sub {
    my $code = <<'P';
my ($text, $n) = ("abc " x 2000, 0);
for my $i (1 .. 1500) {
    my $sub = eval "sub { \$n++ while \$text =~ /a(b)c$i?/g; my \@f = split /b$i*/, \$text; \$text =~ tr/a//; my \$r = 'c$i*'; \$text =~ /\$r/ }" or die $@;
    $sub->();
    undef $sub;
}
print "$n\n";
P
    my $plain = run_plain(code => $code);
    my $run = run_prog(opts => 'regex=1:sample=5000:sample_budget=0', code => $code);
    is "$run->{status} $run->{out} $run->{err}", "$plain->{status} $plain->{out} $plain->{err}", 'the program runs';
    my @rows = keys %{ regexes("$run->{dir}/nytprof.out") };
    cmp_ok scalar(@rows), '>', 0, 'some are seen';
    is_deeply [grep { !/^(?:match|split|tr|compile) 1 (?:a\(b\)c\d+\?|b\d+\*|c\d+\*|)$/ } @rows], [], 'with patterns that there were';
};

scenario 'samples and rounds of exact recording have their own' => sub {
    my $code = <<'P';
my $text = "key=value; " x 3000;
sub spent { my ($user, $system) = times; return $user + $system }
sub sampled { my $end = spent() + shift; while (spent() < $end) { my $n = () = $text =~ /(\w+)=/g } }
sub toggle { kill USR2 => $$; my $n = 0; $n++ for 1 .. 100; return }
sampled(0.6); toggle(); for (1 .. 7) { "x" =~ /in_round/ } toggle(); sampled(0.3);
P
    my $run = run_prog(opts => 'regex=1:sample=1000:sample_budget=0:sigcontrol=USR2', code => $code);
    my $exact = counts(regexes("$run->{dir}/nytprof.out.exact"));
    is $exact->{'match 5 in_round'}, '7 0', 'the round has all calls';
    my $seen = regexes("$run->{dir}/nytprof.out");
    is join(',', grep { /match/ } keys %$seen), 'match 3 (\w+)=', 'the samples what they saw';
    my ($own) = map { $_->{excl} * 1e9 } arcs_to(profile_in($run), 'main::CORE:match');
    cmp_ok $seen->{'match 3 (\w+)='}{ns}, '>', 0.85 * $own, 'what they saw before and after the round';
};

scenario 'a thread has its own' => sub {
    plan skip_all => 'perl without threads' if !$Config{useithreads};
    my $run = run_prog(opts => 'regex=1', code => <<'P');
use threads;
sub look { my $found = "a" =~ /a/ for 1 .. $_[0] }
look(2); threads->create(sub { look(6) })->join;
P
    my @calls = map { regexes($_)->{'match 2 a'}{calls} // 0 } sort glob "$run->{dir}/nytprof.out*";
    is "@calls", '2 6', 'the first and the second';
    for my $start (qw(no end)) {
        $run = run_prog(opts => "regex=1:start=$start", code => <<'P');
use threads;
print threads->create(sub { "a" =~ /a/ })->join;
P
        is "$run->{out} $run->{status} $run->{signal}", '1 0 0', "start=$start: one that ends before recording begins";
    }
};

done_testing;
