# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# memory=BYTES with libnytp-malloc.so: samples of what is allocated, by line, and what of it is freed.

use lib 't/lib';
use NYTPTest;

use Config;
use JSON::PP qw(decode_json);

plan skip_all => 'the sanitizer has memory of its own' if sanitized();
my $LIBRARY = root() . '/blib/arch/auto/Devel/NYTProf/libnytp-malloc.so';
plan skip_all => 'no libnytp-malloc.so' if !-e $LIBRARY;

# {LINE => {space, objects, before, inuse, samples => [[space, objects], ...]}}; comments of a plain file follow whatever record.
sub bytes_of {
    my ($file) = @_;
    my (%line, %sample);
    my $stream = slurp($file);
    my $alloc  = qr/alloc (\d+) (\d+) (\d+) \d+ (\d+)/;
    my $before = qr/(?:in-use|inherited) (\d+) (\d+) \d+ \d+ \d+ (\d+)(?: \d+)?/;
    while ($stream =~ /#nytp-(?:$alloc|free (\d+)|$before)\n/g) {
        if (defined $1) {
            $sample{$1} = [$4, $2];
            $line{$4}{space}   += $2;
            $line{$4}{objects} += $3;
            $line{$4}{inuse}   += $2;
            push @{ $line{$4}{samples} }, [$2, $3];
        }
        elsif (defined $6) {
            $sample{$6} = [$8, $7];
            $line{$8}{before} += $7;
            $line{$8}{inuse}  += $7;
        }
        elsif (my $freed = delete $sample{$5}) {
            $line{ $freed->[0] }{inuse} -= $freed->[1];
        }
    }
    return \%line;
}

sub record {
    my ($code, %how) = @_;
    my $preload = join ':', $LIBRARY, grep { defined } $how{allocator};
    my $opts = join ':', 'memory=' . ($how{mean} // '4k'), 'compress=0', $how{sampled} ? 'sample=1000' : (), grep { defined } $how{opts};
    return run_prog(code => $code, opts => $opts, env => { LD_PRELOAD => $preload, %{ $how{env} // {} } });
}

# The same, of which nothing is said.
sub recorded {
    my $run = record(@_);
    is "$run->{status} $run->{err}", '0 ', 'runs';
    return $run;
}

sub near {
    my ($got, $want, $name) = @_;
    ok $got > 0.9 * $want && $got < 1.1 * $want, $name or diag "got $got, not some $want";
    return;
}

# Blocks of 5,000 bytes and more are sampled seven times of ten, those of 20,000 all but one of a hundred: the sum of three hundred and more
# is off by one per cent at most, as a standard deviation, and ten per cent are ten of these. Chance: 1e-15
my $PLANTED = <<'P';
our @keep; my $n = 10000;
sub keeper { push @keep, "x" x ($n + $_) for 1 .. 2000; return }
sub churn { for my $i (1 .. 4000) { my $s = "y" x ($n / 2 + $i % 8); undef $s } return }
sub big { push @keep, "z" x ($n * 3000); return }
keeper(); churn(); big();
1;
P

sub holds_what_was_planted {
    my $run = recorded($PLANTED, @_);
    my $bytes = bytes_of("$run->{dir}/nytprof.out");
    near $bytes->{2}{space}, 22_000_000, 'what one line keeps';
    near $bytes->{2}{inuse}, 22_000_000, 'is in use';
    near $bytes->{3}{space}, 20_000_000, 'what another allocates';
    cmp_ok $bytes->{3}{inuse}, '<', 200_000, 'and frees';
    near $bytes->{4}{space}, 30_000_000, 'one large block';
    is_deeply [map { $_->[1] } grep { $_->[0] > 29e6 } @{ $bytes->{4}{samples} }], [1], 'is one';
    return;
}

# Ways to record, and their options.
my @KINDS = ([''], [', sampled', sampled => 1], [', without SVs', opts => 'svs=0']);

sub each_kind {
    my ($name, $code) = @_;
    for (@KINDS) {
        my ($kind, @how) = @$_;
        scenario $name . $kind => sub { $code->(@how) };
    }
    return;
}

each_kind 'planted lines have what they allocate' => sub { holds_what_was_planted(@_) };

for my $allocator (qw(libjemalloc.so.2 libtcmalloc_minimal.so.4)) {
    scenario "and with $allocator" => sub {
        plan skip_all => "no $allocator" if `LD_PRELOAD=$allocator sh -c : 2>&1` ne '';
        holds_what_was_planted(allocator => $allocator);
    };
}

# A sub's last statement allocates long before perl looks whether anybody wants anything of it: all
# of these have been left by then, but the recursion's outermost calls.
scenario 'a sampled recording has the calls that were open when a block was allocated' => sub {
    my $run = recorded(<<'P', sampled => 1);
our @keep;
sub leaf {
    my $n = 20000;
    push @keep, "x" x $n
}
sub one { leaf() }
sub two { one() }
sub deep { my $n = shift; $n > 0 ? deep($n - 1) : leaf() }
sub match { my $s = "ab" x 100000; my @m = $s =~ /(.)/g; return scalar @m }
sub compile { eval q{push @keep, "x" x 20000} }
one(), two(), two(), deep(3), compile() for 1 .. 300;
match() for 1 .. 2;
1;
P
    my %space = map { /\A(.*) (\d+)\Z/ } split /\n/, exported($run, qw(--collapsed --weight=alloc_space));
    my $deep  = join ';', ('main::deep') x 4;
    my $evals = 0;
    near $space{"main::RUNTIME;$_->[0]"} // 0, $_->[1], $_->[0]
        for ['main::one;main::leaf', 6e6], ['main::two;main::one;main::leaf', 12e6], ["$deep;main::leaf", 6e6];
    ok !(grep { /leaf;|leaf.*leaf/ } keys %space), 'and no other of a leaf' or diag explain \%space;
    $evals += $space{$_} for grep { /\Amain::RUNTIME;main::compile\b/ } keys %space;
    cmp_ok $evals, '>', 6e6, 'a string eval';
    cmp_ok $space{'main::RUNTIME;main::match;main::CORE:match'}, '>', 5 * $space{'main::RUNTIME;main::match'}, 'a builtin';
    near exported($run, qw(--top --lines --sort=alloc_space)) =~ m{ ([\d.]+) MB +[\d.]+ MB \S+/prog\.pl:4\b} ? $1 : 0, 24, 'its line';
    my ($ticks) = slurp("$run->{dir}/nytprof.out") =~ /:samples=(\d+)\n/;
    my ($shown) = exported($run, '--top') =~ /, (\d+) samples,/;
    cmp_ok $shown, '<=', $ticks, 'samples of time are none but those of ticks';
};

# Each block of a thousand bytes is sampled. What is freed is told while nothing is allocated any more.
scenario 'without SVs there are the same samples, in a profile that is as without memory= else' => sub {
    my $code = <<'P';
our (@keep, $large);
sub made { return "m" x (1000 * $_[0]) }
sub kept { push @keep, made($_) . "k" for 1 .. 5; return }
sub deep { my ($n) = @_; my $s = "d" x 3000; return $n ? deep($n - 1) . $s : $s }
sub sorted { my @s = sort { length(made($a)) <=> length(made($b)) } 1 .. 9; return "@s" }
sub matched { my @m = ("ab" x 900) =~ /(.*)/g; return "@m" }
sub DESTROY { my $s = "o" x 5000; return }
sub object { my $o = bless [map { "p" x (1000 + $_) } 1 .. 9]; return join ',', @$o }
sub evaluated { eval q{my $s = "e" x 4000; die "y" x 2000}; return }
kept(), deep(9), sorted(), matched(), object(), evaluated() for 1 .. 5;
my $size = 7_000_000; { local $large = "l" x $size; kept() }
undef $large; my $n = 0; $n ^= $_ for 1 .. 10; for (1 .. 300_000) { $n ^= $_ }
1;
P
    my %seeds = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);    # else arenas are allocated now here, now there
    my (%lines, %stacks, %by_sub, %stream);
    for (0, 1) {
        my $run = recorded($code, mean => 2, opts => "svs=$_", env => \%seeds);
        my $lines = bytes_of("$run->{dir}/nytprof.out");
        my $stacks = exported($run, qw(--collapsed --weight=alloc_space));
        $stream{$_} = slurp("$run->{dir}/nytprof.out");
        for my $line (keys %$lines) { $lines{$_}{$line} = [sort { $a <=> $b } grep { $_ > 999 } map { $_->[0] } @{ $lines->{$line}{samples} }] }
        while ($stacks =~ /^((?:.*;)?(.*)) (\d+)$/mg) { $by_sub{$_}{$2} += $3; $stacks{$_}{$1} = $3 if $3 > 20_000 }
    }
    # In which call of a recursion, on line 4, a string must move to grow is for the allocator to say, and with 32 bits on others, too.
    # Of what is small one is sampled now and then that is not the other time: line 10 has one block of eight bytes, and no other.
    my %of;
    for my $svs (0, 1) {
        my $lines = $lines{$svs};
        my @large = grep { $_ != 4 && @{ $lines->{$_} } } sort keys %$lines;
        $of{$svs} = $Config{ptrsize} == 8 ? { map { ($_ => $lines->{$_}) } @large } : \@large;
    }
    is_deeply $of{0}, $of{1}, 'of each line';
    near $by_sub{0}{$_} // 0, $by_sub{1}{$_}, $_ for grep { $by_sub{1}{$_} > 20_000 } sort keys %{ $by_sub{1} };
    cmp_ok scalar keys %{ $stacks{1} }, '>', 12, 'these are some stacks';
    is scalar(() = $stream{$_} =~ /^#nytp-svs/mg) > 0, !!$_, "svs=$_: SVs" for 0, 1;
    like $stream{0}, qr/#nytp-calls 1\n/, 'calls are told as by default';
    my ($large) = $stream{0} =~ /#nytp-alloc (\d+) \d{7} /;
    my ($before, $after) = split /#nytp-free $large\n/, $stream{0};
    cmp_ok length $after, '>', length($stream{0}) / 4, 'and what is freed, soon';
};

# A record of each of twenty thousand places that call, which takes megabytes; the calls themselves take nothing. At the last line
# perl frees the code, for which perl 5.24 needs megabytes.
scenario 'what the profiler allocates is left out' => sub {
    my $run = recorded('sub f { return } eval "# line 1000\n" . "f();\n" x 20000 . "1" or die; 1;');
    my $bytes = bytes_of("$run->{dir}/nytprof.out");
    my $space = 0;
    $space += $bytes->{$_}{space} // 0 for grep { $_ >= 1000 && $_ < 21_000 } keys %$bytes;
    cmp_ok $bytes->{1}{space}, '>', 1_000_000, 'perl has compiled it';
    cmp_ok $space, '<', 300_000, 'and what ran took little';
};

each_kind 'the program behaves as without' => sub {
    my $code = 'my %h = map { $_ => "x" x $_ } 1 .. 3000; print length join("", @h{sort { $a <=> $b } keys %h}), "\n"; print STDERR "err\n"; exit 3;';
    my $plain = run_prog(code => $code, impl => 'plain');
    my $run   = record($code, mean => 16, @_);
    is_deeply [@$run{qw(out err status)}], [@$plain{qw(out err status)}], 'output, errors and status';
};

# Returns the environment of a shell that the program starts. `before` and `after` stand beside our library.
sub given_on {
    my (%how) = @_;
    my $show = 'print defined $ENV{LD_PRELOAD} ? $ENV{LD_PRELOAD} : "none", "\n"; $| = 1; system q(echo "${LD_PRELOAD-none}"); 1;';
    my $preload = join ' ', grep { defined } $how{before}, $LIBRARY, $how{after};
    return run_prog(code => $show, opts => $how{opts} // 'memory=64k', env => { LD_PRELOAD => $preload, %{ $how{env} || {} } })->{out};
}

scenario 'programs that are not recorded are started without the library' => sub {
    is given_on(), "none\nnone\n", 'it is not in %ENV, and not in theirs';
    is given_on(opts => 'start=no'), "none\nnone\n", 'nor where bytes are not wanted';
    is given_on(before => 'libc.so.6'), "libc.so.6\n" x 2, 'where the C library stands before it, it allocates';
    my ($other) = grep { `LD_PRELOAD=$_ $^X -e 'system q(:;:)' 2>&1` eq '' } qw(libm.so.6 libpthread.so.0);
    plan skip_all => 'no other library' if !$other;
    is given_on(before => $other), "$other\n" x 2, 'what the user loads before it stays';
    is given_on(after => $other), "$other\n" x 2, 'and what after it';
};

scenario 'programs that are recorded keep it' => sub {
    plan skip_all => 'the shell has another C library than perl' if `LD_PRELOAD='$LIBRARY' sh -c : 2>&1` ne '';
    is given_on(env => { PERL5OPT => '-d:NYTProf' }), "$LIBRARY\n" x 2, 'where the environment loads the profiler';
};

scenario 'a program without a loader runs without it' => sub {
    my $run = run_prog(
        impl => 'plain', code => '1;',
        files => { 'static.c' => "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { free(malloc(9)); return puts(\"static\") < 0 ? 1 : 3; }\n" }
    );
    plan skip_all => 'nothing can be linked statically here' if system "cd '$run->{dir}' && $Config{cc} -static -o static static.c 2>/dev/null";
    $run = run_prog(
        dir => $run->{dir}, code => 'system "./static"; print $? >> 8, "\n"; 1;',
        opts => 'memory=64k', env => { LD_PRELOAD => $LIBRARY, PERL5OPT => '-d:NYTProf' }
    );
    is "$run->{out}$run->{err}$run->{status}", "static\n3\n0", 'as without us';
};

# Each call of f() keeps ten megabytes more.
my $KEEPS = <<'P';
our @k; sub f { push @k, "a" x (20000 + $_) for 1 .. 500; return }
P

each_kind 'a fork and a thread have samples of their own' => sub {
    my $run = record($KEEPS . 'f(); if (my $pid = fork) { waitpid $pid, 0 } else { f(); f(); exit } f(); 1;', @_);
    near bytes_of("$run->{dir}/nytprof.out")->{1}{space}, 20_000_000, 'the parent';
    my ($child) = glob "$run->{dir}/nytprof.out.*";
    near bytes_of($child)->{1}{space}, 20_000_000, 'the child';
    plan skip_all => 'perl without threads' if !$Config{useithreads};
    $run = record("use threads;\n$KEEPS" . 'f(); threads->create(sub { f(); f(); 1 })->join; f(); 1;', @_);
    near bytes_of("$run->{dir}/nytprof.out")->{2}{space}, 20_000_000, 'the first thread, before and after it joins the second';
    near bytes_of("$run->{dir}/nytprof.out.t1")->{2}{space}, 20_000_000, 'the second';
};

each_kind 'paused recording samples nothing' => sub {
    my $run = record($KEEPS . 'DB::disable_profile(); f(); f(); DB::enable_profile(); f(); 1;', @_);
    near bytes_of("$run->{dir}/nytprof.out")->{1}{space}, 10_000_000, 'of what ran in between';
};

each_kind 'a file that rotate begins has its own' => sub {
    my $run = recorded($KEEPS . 'f(); splice @k, 0, 250; DB::rotate_profile() or die; f(); splice @k, 0, 350;', @_);
    for (['', 5_000_000], ['.2', 8_000_000]) {
        my ($file, $kept) = @$_;
        my $line = bytes_of("$run->{dir}/nytprof.out$file")->{1};
        near $line->{space}, 10_000_000, "nytprof.out$file: what was allocated while it was written";
        near $line->{inuse}, $kept, 'and what was in use at its end';
    }
};

# {ID => SPACE} of the sampled blocks that are in use at the end, as these files' comments say: those that were allocated while they
# were written and, with `before`, those that they say were in use before.
sub in_use {
    my ($run, $before, @files) = @_;
    my (%space, %freed);
    for my $stream (map { slurp("$run->{dir}/nytprof.out$_") } @files) {
        $space{$1} = $2 while $stream =~ /#nytp-alloc (\d+) (\d+) /g;
        $freed{$1} = 1  while $stream =~ /#nytp-free (\d+)\n/g;
        while ($before && $stream =~ /#nytp-in-use (\d+) (\d+) /g) { $space{$1} = $2 }
    }
    delete @space{ keys %freed };
    return \%space;
}

# The recorder keeps some words for each block in use. The array has its room from the line before, and no string here is
# as long as a page of the values that perl takes at once.
each_kind 'what the recorder needs to know of the blocks in use is not the program\'s' => sub {
    my $run = recorded("our (\@keep, \$size); \$size = 50;\n\$#keep = 30_000;\nfor (1 .. 30_000) { \$keep[\$_] = 'x' x \$size }\n1;\n", @_, mean => 2);
    my $lines = bytes_of("$run->{dir}/nytprof.out");
    my @sizes = map { $_->[0] } @{ $lines->{3}{samples} };
    cmp_ok scalar(grep { $_ < 100 } @sizes), '>', 29_000, 'of the strings nearly all are sampled';
    is join(' ', grep { $_ > 5000 } @sizes), '', 'and nothing larger';
};

# Perl's own stacks grow by less than to the double, that of temporary values before 5.22 page by page.
scenario "nor is what it needs to know of the calls in progress the program's" => sub {
    my $run = recorded('no warnings; sub deep { $_[0] && deep($_[0] - 1) } deep(20_000); 1;', mean => 2);
    my %size = map { ($_->[0] => 1) } map { @{ $_->{samples} // [] } } values %{ bytes_of("$run->{dir}/nytprof.out") };
    cmp_ok scalar(grep { $_ > 16_000 } keys %size), '>', 4, 'stacks of perl are among what it allocates';
    is join(' ', sort { $a <=> $b } grep { $_ > 16_000 && $size{ 2 * $_ } && $size{ 4 * $_ } && !$size{ $_ + 4096 } } keys %size), '', 'and none of ours';
};

sub collapsed {
    my ($run, $file, $measure) = @_;
    my @files = glob "$run->{dir}/nytprof.out$file";
    return { map { /\A(.*) (\d+)\Z/ } split /\n/, exported($run, qw(-q --collapsed), "--weight=$measure", @files) };
}

# A cache that grows by 600 blocks in the first file, in two calls; of 500 that the second adds to it 250 of the oldest go, and in the third
# another 100, for 100 of its own. The mean distance is so short that each block is sampled. The size is a variable: else perl 5.44
# makes the string once, when it compiles, and all share it.
my $CACHE = <<'P';
our @cache; our $size = 20000;
sub add {
    my $n = shift;
    push @cache, "a" x $size for 1 .. $n;
    return;
}
sub fill { add(@_); return }
sub refill { add(@_); return }
sub other { splice @cache, 0, $_[0]; return }
fill(500); refill(100); NEXT;
add(500); other(250); NEXT;
fill(100); other(100);
1;
P

each_kind 'a later file knows what is in use from before' => sub {
    my $run = recorded($CACHE =~ s/NEXT/DB::rotate_profile() or die/gr, @_, mean => 2);
    is_deeply in_use($run, 1, ".$_"), in_use($run, 0, map { $_ == 1 ? '' : ".$_" } 1 .. $_), "file $_ knows of all that is in use at its end" for 2, 3;
    my ($fill, $refill, $add) = map {"main::RUNTIME;main::$_"} qw(fill;main::add refill;main::add add);
    for my $file ('.2', '.3') {
        my ($in_use, $allocated) = map { collapsed($run, $file, $_) } qw(inuse_space alloc_space);
        my %want = ($fill => 250, $refill => 100, $add => 500);
        near $in_use->{$_} / 20000, $want{$_}, "$file: in use, by $_" for sort keys %want;
        my %new = $file eq '.2' ? ($add => 500) : ($fill => 100);
        is join(' ', sort grep { $allocated->{$_} > 100_000 } keys %$allocated), join(' ', keys %new), "$file: allocated, only its own";
        near $allocated->{$_} / 20000, $new{$_}, 'as much as was' for keys %new;
    }
    my ($line) = exported($run, qw(-q --top --lines --sort=inuse_space nytprof.out.3)) =~ m{[\d.]+ MB +([\d.]+) MB \S+/prog\.pl:4\b};
    near $line, 17, 'on the line that allocated it';
};

each_kind 'and so does one that begins after the one before was finished' => sub {
    my $run = record($CACHE =~ s/NEXT/DB::finish_profile(); other(1); DB::enable_profile()/gr, @_, mean => 2);
    is $run->{status}, 0, 'runs';
    near blocks_in_use($run, '.3', 'main::add', 20_000), 848, 'without what was freed in between';
};

# By sub and line, as SUB:LINE.
sub in_use_by_line {
    my ($run, $file) = @_;
    my $data = decode_json(exported($run, qw(-q --json), "nytprof.out$file"));
    my @lines = grep { $_->{inuse_space} } @{ $data->{lines} };
    return { map { ("$data->{subs}[$_->{sub}]{name}:$_->{line}" => $_->{inuse_space}) } @lines };
}

each_kind 'in the calls and on the lines of the file that told the allocation' => sub {
    my $run = recorded(<<'P', @_, mean => 2);
our (@keep, $text);
sub keep { my ($value) = @_; push @keep, $value; return "r" x 700 }
sub argument {
    keep("a" x 3000);
    push @keep, keep("b" x 900) . "c" x 5000;
    push @keep, map { $_ x 400 } 1 .. 9 }
sub deep { my $n = shift; return $n > 0 ? deep($n - 1) : argument() }
my $closure = sub { my @own = map { "d" x 800 } 1 .. 3; push @keep, sub { \@own }; $text .= "e" x 9000 };
for (1 .. 40) {
    argument(); deep(2); deep($_ % 5); $closure->();
    eval 'push @keep, "f" x 1000; keep("g" x 100)';
    push @keep, join ",", 1 .. 100;
}
DB::rotate_profile() or die;
1;
P
    my ($first, $second) = map { collapsed($run, $_, 'inuse_space') } '', '.2';
    delete @$_{'main::RUNTIME'} for $first, $second;
    is_deeply $second, $first, 'each stack';
    my ($before, $after) = map { in_use_by_line($run, $_) } '', '.2';
    delete @$_{ grep {/\Amain::RUNTIME:/} keys %$_ } for $before, $after;
    is_deeply $after, $before, 'each line of a sub';
    cmp_ok scalar keys %$after, '>', 4, 'of which there are some';
};

scenario 'an exact file beside a sampled one knows what is in use from before, and the sampled one what happened meanwhile' => sub {
    plan skip_all => 'no signals' if $^O eq 'MSWin32';
    my $toggle = 'kill USR2 => $$; our $n = 0; $n++ for 1 .. 100';
    my $run = run_prog(code => $CACHE =~ s/NEXT/$toggle/gr, env => { LD_PRELOAD => $LIBRARY }, opts => 'memory=2:compress=0:sample=1000:sigcontrol=USR2');
    is "$run->{status} $run->{err}", '0 ', 'runs';
    my $exact = collapsed($run, '.exact', 'inuse_space');
    near $exact->{'main::RUNTIME;main::fill;main::add'} / 20000, 250, 'the exact file';
    is_deeply in_use($run, 1, ''), in_use($run, 0, '', '.exact'), 'the sampled one, at its end';
    my ($in_use, $allocated) = map { collapsed($run, '', $_) } qw(inuse_space alloc_space);
    my ($fill, $refill, $add) = map {"main::RUNTIME;main::$_"} qw(fill;main::add refill;main::add add);
    near $in_use->{$add} / 20000, 500, 'what was allocated meanwhile is in use';
    is $allocated->{$add}, undef, 'and is not in what it allocated';
    near $in_use->{$fill} / 20000, 250, 'what was freed meanwhile is not';
};

# Ids, with pids, of blocks of that many bytes and more, as comments of this kind tell them.
sub told {
    my ($run, $file, $kind, $least) = @_;
    my $stream = slurp("$run->{dir}/nytprof.out$file");
    my ($is_inherited, @told) = $kind eq 'inherited';
    while ($stream =~ /#nytp-$kind (\d+) (\d+) \d+ \d+ \d+(?: \d+)?(?: (\d+))?\n/g) {
        push @told, $is_inherited ? "$1 of $3" : $1 if $2 >= $least;
    }
    return \@told;
}

sub blocks_in_use {
    my ($run, $file, $sub, $size) = @_;
    my ($in_use, $sum) = (collapsed($run, $file, 'inuse_space'), 0);
    $sum += $in_use->{$_} for grep {/\b\Q$sub\E\z/} keys %$in_use;
    return $sum / $size;
}

my $FORK = <<'P';
our @keep; our $n = 20000;
sub get { push @keep, "a" x $n for 1 .. 100; return }
sub own { push @keep, "b" x ($n / 2) for 1 .. 50; return }
get(); FIRST;
if (my $pid = fork) { waitpid $pid, 0; splice @keep, 0, 10; exit }
splice @keep, 0, 30; own(); NEXT; splice @keep, 0, 20;
1;
P

sub child_of {
    my ($run) = @_;
    my ($pid) = map { /\.(\d+)\z/ ? $1 : () } glob "$run->{dir}/nytprof.out.*";
    return $pid;
}

each_kind 'a child of a fork knows what is in use of its parent\'s' => sub {
    my $run = recorded($FORK =~ s/FIRST/1/r =~ s/NEXT/DB::rotate_profile() or die/r, @_, mean => 2);
    my $child = child_of($run);
    my $inherited = told($run, ".$child", 'inherited', 15_000);
    my ($of) = map {/ of (\d+)\z/} @$inherited;
    is_deeply $inherited, [map {"$_ of $of"} @{ told($run, '', 'alloc', 15_000) }], 'each of them, of one process';
    near blocks_in_use($run, ".$child", "main::$_->[0]", $_->[1]), $_->[2], "the child: $_->[0]" for [get => 20_000, 70], [own => 10_000, 50];
    is_deeply [grep {/main::get/} keys %{ collapsed($run, ".$child", 'alloc_space') }], [], 'of which it allocated its own';
    near blocks_in_use($run, '', 'main::get', 20_000), 90, 'the parent';
    my %freed = map { ("$_ of $of" => 1) } slurp("$run->{dir}/nytprof.out.$child") =~ /#nytp-free (\d+)\n/g;
    is_deeply told($run, ".$child.2", 'inherited', 15_000), [grep { !$freed{$_} } @$inherited], 'its next file tells them apart, too';
    is_deeply told($run, ".$child.2", 'in-use', 9_000), [grep { !$freed{"$_ of $of"} } @{ told($run, ".$child", 'alloc', 9_000) }], 'from its own';
    near blocks_in_use($run, ".$child.2", 'main::get', 20_000), 50, 'and at its end';
    near blocks_in_use($run, '*', 'main::get', 20_000), 90, 'all files together count them once';
    near blocks_in_use($run, '*', 'main::own', 10_000), 50, 'and the child\'s';
};

each_kind 'and so does the child of that' => sub {
    my $run = recorded($FORK =~ s/FIRST/1/r =~ s/NEXT/if (my \$pid = fork) { waitpid \$pid, 0; exit }/r, @_, mean => 2);
    my %inherited = map { m{/nytprof\.out\.(\d+)\z} ? ($1 => told($run, ".$1", 'inherited', 9_000)) : () } glob "$run->{dir}/nytprof.out.*";
    my ($middle, $last) = sort { @{ $inherited{$a} } <=> @{ $inherited{$b} } || $a <=> $b } keys %inherited;
    is scalar(grep { !/ of $middle\z/ } @{ $inherited{$last} }), 0, 'all are its own parent\'s';
    near blocks_in_use($run, ".$last", 'main::get', 20_000), 50, 'what it holds of the first';
    near blocks_in_use($run, ".$last", 'main::own', 10_000), 50, 'and of the second';
    near blocks_in_use($run, '*', 'main::get', 20_000), 90, 'all files together count each once';
    near blocks_in_use($run, '*', 'main::own', 10_000), 50, 'whoever allocated it';
};

each_kind 'and one that records when its parent does no more' => sub {
    my $run = record($FORK =~ s/FIRST/DB::finish_profile()/r =~ s/NEXT/DB::enable_profile()/r, @_, mean => 2);
    is $run->{status}, 0, 'runs';
    near blocks_in_use($run, '.2', 'main::get', 20_000), 50, 'less what it freed before it did, and after';
};

# This fork is not seen as a call.
scenario 'a child inherits what the statement allocated that forked' => sub {
    my $code = 'our @keep; our $n = 20000; push @keep, "a" x $n, my $pid = open my $from, "-|"; close $from if $pid; 1;';
    my $run = run_prog(code => $code, env => { LD_PRELOAD => $LIBRARY }, opts => 'memory=2:compress=0:slowops=0');
    my ($before) = @{ told($run, '', 'alloc', 15_000) };
    my ($inherited) = map {s/ of .*//r} @{ told($run, '.' . child_of($run), 'inherited', 15_000) };
    is $inherited, $before, 'as its parent told it later';
};

# In the child a call is seen before there is a safe point at which sampling goes on.
scenario 'a child that was forked while an exact file was recorded beside a sampled one' => sub {
    my $toggle = 'kill USR2 => $$; $main::i = 0; $main::i++ for 1 .. 100';
    my $fork   = 'our @pid; push @pid, (open my $from, "-|"), utf8::is_utf8($n); if ($pid[0]) { close $from; splice @keep, 0, 10; exit }';
    my $run = run_prog(code => $FORK =~ s/FIRST|NEXT|^1/$toggle/gmr =~ s/^if .*/$fork/mr . ';1', env => { LD_PRELOAD => $LIBRARY },
        opts => 'memory=2:compress=0:sample=1000:sigcontrol=USR2:slowops=0');
    is "$run->{status} $run->{err}", '0 ', 'runs';
    my $child = '.' . child_of($run);
    my $inherited = told($run, $child, 'inherited', 15_000);
    is_deeply [map {s/ of .*//r} @$inherited], told($run, '', 'alloc', 15_000), 'what it inherited';
    is scalar(grep { "." . s/.* of //r eq $child } @$inherited), 0, 'is another process\'s';
    near blocks_in_use($run, $child, "main::$_->[0]", $_->[1]), $_->[2], "in use at its end, behind an exact file of its own: $_->[0]" for [get => 20_000, 50], [own => 10_000, 50];
    my %times;
    $times{$_}++ for slurp("$run->{dir}/nytprof.out$child") =~ /#nytp-free (\d+)\n/g;
    is_deeply [grep { $times{$_} > 1 } keys %times], [], 'each is freed once';
};

# Each eval leaves a block behind that its own anonymous sub allocated; so many of them are let go of while they run.
scenario 'what subs of string evals allocated that are gone keeps its names' => sub {
    my $run = recorded(<<'P', mean => 2);
our @k; our $size = 3000;
sub one { my $sub = eval "sub { push \@main::k, q(x) x \$main::size; return }" or die; $sub->(); return }
one() for 1 .. 5000;
DB::rotate_profile() or die;
splice @k, 0, 2500;
P
    my $in_use = collapsed($run, '.2', 'inuse_space');
    my @kept = grep { /\Amain::RUNTIME;main::one;main::__ANON__\[\(eval.(\d+)\)\S*\z/ && $1 > 2500 && $in_use->{$_} > 2900 } keys %$in_use;
    is scalar @kept, 2500, 'each its own' or diag join "\n", (sort keys %$in_use)[0 .. 5];
    is_deeply in_use($run, 1, '.2'), in_use($run, 0, '', '.2'), 'and all of it';
};

scenario 'no more than 262,144 are kept for later files' => sub {
    my $run = record(<<'P', mean => 2);
our @k; sub f { $#k = 300_000; $k[$_] = "a" x 100 for 1 .. $_[0]; return }
f(270_000); DB::rotate_profile() or die; @k = (); DB::rotate_profile() or die;
P
    is $run->{status}, 0, 'runs';
    my ($second, $third) = map { scalar(() = slurp("$run->{dir}/nytprof.out.$_") =~ /#nytp-in-use \d/g) } 2, 3;
    is $second, 262144, 'those that came first';
    like $run->{err}, qr{\A\S+ memory=: \S+/nytprof\.out\.2 does not know all that was in use before: more than 262144 blocks, or 65536 ways of calls to them\n\z}, 'which is said once';
    cmp_ok $third, '<', 10_000, 'and those that are freed make room';
};

# A pass over all of a full list takes half a millisecond: there is none for each block that comes, but one when an eighth
# is freed, and until then those that come are left out. An array of 20 is three blocks, none of which stays unsampled.
scenario 'a full list is gone over when an eighth of it is freed, not for each block' => sub {
    my %least = (1000 => 262_144 - 3000, 40_000 => 262_144 - 262_144 / 8);
    for my $n (sort { $a <=> $b } keys %least) {
        my $run = record(<<"P", mean => 2);
our \@k; \$#k = 300_000; sub f { \$#{\$k[\$_]} = 19 for 1 .. \$_[0]; return }
f(100_000); for (1001 .. 1000 + $n) { undef \$k[\$_]; \$#{\$k[\$_]} = 19 } DB::rotate_profile() or die;
P
        is "$run->{status} $run->{out}", '0 ', "$n replaced: runs";
        my $known = () = slurp("$run->{dir}/nytprof.out.2") =~ /#nytp-in-use \d/g;
        ok $known >= $least{$n} - 100 && $known <= $least{$n} + 100, "$n replaced: $known are known of";
    }
};

# Instructions, which no neighbour changes: for 6,000 evals 5.8 times as many as for 2,000, of which none is past, and by walks 17.5 times.
slow_scenario 'a new file finds each past string eval without a walk over all' => sub {
    plan skip_all => 'no valgrind' if qx{valgrind --version 2>/dev/null} !~ /\S/;
    my $dir = run_prog(code => <<'P', impl => 'plain')->{dir};
our @keep; push @keep, eval "pack 'A300', $_" for 1 .. $ARGV[0]; DB::rotate_profile() if defined &DB::rotate_profile;
P
    local $ENV{NYTPROF} = "memory=50:svs=0:flush=0:compress=0:file=$dir/nytprof.out";
    local $ENV{LD_PRELOAD} = $LIBRARY;
    my @ours = ours();
    my %n;
    for my $evals (2000, 6000) {
        my $said = qx{valgrind --tool=callgrind --toggle-collect=XS_DB_rotate_profile --callgrind-out-file=/dev/null $^X @ours -d:NYTProf $dir/prog.pl $evals 2>&1};
        ($n{$evals}) = $said =~ /Collected : (\d+)/ or return fail $said;
        my $p = profile_in({ dir => $dir }, 'nytprof.out.2');
        # Chance: 1e-9 (0.2 % of the evals are not sampled)
        cmp_ok scalar(grep { $_->{name} =~ /\A\(eval \d+\)\[/ && $_->{eval_line} == 1 } values %{ $p->{fid} }), '>', 0.9 * $evals, 'they are there, with their places';
    }
    cmp_ok $n{6000} / $n{2000}, "<", 10, "$n{2000} for 2,000, $n{6000} for 6,000";
};

# 260 lines call a sub of which 260 lines call another, which is 67,860 ways of calls.
scenario 'no more than 65,536 ways of calls are kept for later files' => sub {
    my $run = record(sprintf(<<'P', "leaf();\n" x 260, "mid();\n" x 260), mean => 2);
our @k; our ($n, $i) = (100, 0); $#k = 80_000; sub leaf { $k[$i++] = "a" x $n; return }
sub mid { %s return }
%s DB::rotate_profile() or die; @k = (); DB::rotate_profile() or die; mid(); DB::rotate_profile() or die;
P
    is $run->{status}, 0, 'runs';
    my @streams = map { slurp("$run->{dir}/nytprof.out.$_") } 2 .. 4;
    my ($second, $third, $fourth) = map { scalar(() = /#nytp-in-use-call /g) } @streams;
    is $second, 65_535, 'those that came first, beside the program itself';
    my ($blocks) = map { scalar(() = /#nytp-in-use \d/g) } @streams;
    ok $blocks > 65_000 && $blocks < 67_000, 'and what they allocated' or diag $blocks;
    like $run->{err}, qr{\A\S+ memory=: \S+/nytprof\.out\.2 does not know all [^\n]*\n\z}, 'which is said once';
    cmp_ok $third, '<', 1000, 'those of which nothing is in use make room';
    cmp_ok $fourth, '>=', 261, 'for others';
};

# A signal ends the program while it gets a block of 5 MB or more. Who allocates or frees anything in the handler would wait
# for the allocator's lock; here it says so.
my $SIGNAL_IN_MALLOC = <<'C';
#include <signal.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t is_inside;
static void check(const char *what) { if (is_inside && write(2, what, strlen(what)) < 0) _exit(9); }
static void *got(void *block, size_t size)
{
    if (size < 5000000 || is_inside)
        return block;
    is_inside = 1;
    raise(SIGTERM);
    is_inside = 0;
    return block;
}
#define NEXT(name) static void *(*next)(); check(name "() in the signal\n"); if (!next) next = dlsym(RTLD_NEXT, name);
void *malloc(size_t size) { NEXT("malloc") return got(next(size), size); }
void *calloc(size_t n, size_t size) { NEXT("calloc") return got(next(n, size), n * size); }
void *realloc(void *block, size_t size) { NEXT("realloc") return got(next(block, size), size); }
void free(void *block) { if (block) { NEXT("free") next(block); } }
C

scenario 'a signal that ends the program within malloc() allocates and frees nothing' => sub {
    my (undef, $allocator) = preloaded($SIGNAL_IN_MALLOC);
    my $run = record(<<'P', mean => 2, allocator => $allocator, opts => 'sigexit=term');
our @keep = map { "k" x (1000 + $_) } 1 .. 50; our $large = 6_000_000;
sub last_call { return scalar(my @all = ((undef $keep[0]), (map "y" x (100 + $_), 1 .. 5000), "b" x $large)) }
sub outer { return last_call() } outer(); print "not reached\n";
P
    is $run->{signal}, 15, 'it has ended';
    is $run->{out} . $run->{err}, '', 'and so it was';
    cmp_ok collapsed($run, '', 'alloc_space')->{'main::RUNTIME;main::outer;main::last_call'}, '>', 10_000_000, 'what it was about to do is told';
};

scenario 'without the library' => sub {
    my $run = run_prog(opts => 'memory=512k', code => '1;');
    like $run->{err}, qr{\A\S+ memory= counts values only; .* LD_PRELOAD=/\S+/libnytp-malloc\.so$}, 'it is said how, in one line';
    is run_prog(opts => 'memory=1', code => '1;')->{err}, '', 'not where only values are wanted';
    like run_prog(opts => 'memory=512k:sample=100', code => '1;')->{err}, qr{\A\S+ memory= counts nothing; .* LD_PRELOAD=/\S+\n\z}, 'and with sample=';
    like run_prog(opts => 'memory=512k:svs=0', code => '1;')->{err}, qr{\A\S+ memory= counts nothing; }, 'and with svs=0';
    like run_prog(opts => 'memory=1:svs=0', code => '1;')->{err}, qr{\A\S+ option memory=1 does nothing: it counts values, which svs=0 does not want\n\z}, 'which leaves memory=1 nothing';
    for ('512q', '-1', '2000000m') {
        like run_prog(opts => "memory=$_", code => '1;')->{err}, qr/option memory: /, "$_ is no number of bytes";
    }
};

done_testing;
