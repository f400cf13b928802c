# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A program whose stacks are known: it goes through each way in which perl calls a sub, and every
# way ends in work(). Once at first work() writes the whole stack, as caller() tells it, to the file
# that is the first argument. Then the program does the same for ever. No module is used, so that a
# perl without any runs it.
BEGIN { $^H |= 0x1c000000, $^H{feature_lexsubs} = 1 if $] < 5.026 } # use feature 'lexical_subs'

our ($file, $tell, $required) = ($ARGV[0], 1, "$ARGV[0].pl");
our %is = map { $_ => 1 } @ARGV;
our $loops = $is{quick} ? 1 : 30;    # then each way is soon over, and another one in its place
our ($tied, $handled, $in_format, @values) = (undef, 0, 0, 3, 1, 2);

sub tell_stack {
    my ($stack, $i) = ('', 1);
    while (my @call = caller($i++)) {
        my $is_block = $call[3] eq '(eval)' && !defined $call[6] && !$call[7];
        $stack = ":$call[2];$call[3]$stack" unless $is_block;
    }
    write_stack("main$stack");
}

sub write_stack {
    open my $out, '>>', $file or die "$file: $!";
    print $out "$_[0]\n";
    close $out;
}

sub work {
    tell_stack() if $tell && !$in_format;
    my $n = shift;
    $n += $_ for 1 .. $loops;
    $n ^= 1;
    return $n;
}

sub plain {
    return inner(work(1));
}

sub inner {
    my $n = shift;
    work($n);
    return 1;
}

my $closed = 5;
my $closure = sub {
    $closed += work(2) & 1;
    work(3);
};

my sub lexical {
    work(4);
    return plain();
}

sub with_lexical {
    return lexical(1);
}

sub with_eval {
    eval "work(5); plain(); 1" or die;
}

sub with_evals {
    eval "eval 'work(18)'; 1" or die;
    eval 'work(19)' or die for 1 .. 3;
    return plain();
}

sub compare {
    work($_[0]);
    return $a <=> $b;
}

sub by_sub {
    work(6);
    $a <=> $b;
}

sub with_sort {
    my @sorted = sort { compare(1) } @values;
    @sorted = sort by_sub @values;
    return scalar @sorted;
}

sub Guard::DESTROY {
    work(7);
}

sub with_destroy {
    my $guard = bless [], 'Guard';
    undef $guard;
    return inner(1);
}

sub Tied::TIESCALAR {
    return bless [], 'Tied';
}

sub Tied::FETCH {
    work(8);
    return 1;
}

sub with_tie {
    my $got = $tied + 1;
    return inner($got);
}

sub Number::add {
    return inner(work(9));
}
{
    package Number;
    *{"Number::()"} = sub { };
    *{"Number::(+"} = \&Number::add;
    ${"Number::()"} = 1;
}

sub with_overload {
    my $number = bless [], 'Number';
    my $sum = $number + 1;
    return inner(1);
}

sub dies {
    work(10);
    die "out\n";
}

sub with_die {
    eval { dies(1); 1 };
    return inner(1);
}

sub goes {
    work(11);
    goto &inner;
}

sub with_goto {
    goes(1);
    return 1;
}

sub AUTOLOAD {
    work(12);
    return inner(1);
}

sub with_autoload {
    not_there(1);
    return 1;
}

sub deep {
    my $n = shift;
    return work($n) if $n == 0;
    return deep($n - 1);
}

sub with_recursion {
    return deep(4999);
}

our ($format_line, $sub_line) = (__LINE__ + 8, __LINE__ + 3); # caller() dies in a format

sub in_format {
    work(13);
    return 'x';
}
format NULL =
@<<<
in_format(1)
.

sub with_format {
    $in_format = 1;
    write NULL;
    $in_format = 0;
    write_stack(join ';', 'main:' . (caller)[2], 'main::with_format:' . (__LINE__ - 2), "(eval):$format_line",
        "main::in_format:$sub_line", 'main::work') if $tell;
    return inner(1);
}

sub with_require {
    delete $INC{$required};
    require $required;
}

sub handler {
    work(14);
    $handled++;
}

sub with_signal {
    kill 'USR1', $$;
    return inner(1);
}

sub with_regex {
    my $matched = 'ab' =~ /a(?{ work(17); inner(1) })b/;
    return inner($matched);
}

sub context {
    my @list = map { work($_) } grep { inner($_) } 1, 2;
    for my $n (@list) {
        while (work($n) < 0) {
            inner(2);
        }
    }
    return wantarray;
}

sub empty { }

sub with_empty {
    empty() for 1 .. 20;
    write_stack('main:' . (caller)[2] . ';main::with_empty:' . (__LINE__ - 1) . ';main::empty') if $tell;
    return 1;
}

open NULL, '>', '/dev/null' or die;
open my $out, '>', $required or die "$required: $!";
print $out "work(16);\ninner(1);\n1;\n";
close $out;
tie $tied, 'Tied';
$SIG{USR1} = \&handler;
my @ways = (\&plain, $closure, \&with_lexical, \&with_eval, \&with_evals, \&with_sort, \&with_destroy, \&with_tie, \&with_overload,
    \&with_die, \&with_goto, \&with_autoload, \&with_regex, \&context, \&with_empty);
push @ways, \&with_format, \&with_require, \&with_signal if !$is{quick};    # which wait for the system
push @ways, (\&with_eval, \&with_evals, \&plain, \&with_die) x 3 if $is{quick};    # what is in one place by turns
push @ways, \&with_recursion if $is{deep};
my $random = 1;
while (1) {
    for my $way (@ways) {
        for my $again (1 .. ($tell ? 1 : 5)) {
            $random = ($random * 1103515245 + 12345) % 2147483648;
            ($is{quick} && !$tell ? $ways[($random >> 8) % @ways] : $way)->(1);
        }
    }
    print "ready\n" if $tell;
    $| = 1;
    $tell = 0;
    close STDOUT;
}
