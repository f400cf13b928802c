# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package CallRows;

# Tables of who called whom, from where and how often: one program per situation, each run with half
# of the option matrix. Behind "#>" a line of the program says what is called from it, "CALLER: SUB
# [xTIMES] [rDEPTH], SUB ...; CALLER: ..."; names without a package are in main.
#
# A caller written {CALLER|OP} is the slowop frame of OP where slowops are on, else CALLER.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

use NYTPTest;

our @EXPORT = qw(row run_rows marked);

binmode $_, ':utf8' for Test::More->builder->output, Test::More->builder->failure_output;

my @ROWS;

# Pragmas call subs of their own while they load, differently from perl to perl.
my $NOT_CORE = qr{^(?!(?:warnings|strict|utf8|feature|overload|vars|Carp|Exporter)::)};

# The arcs of such a mark; `line`: where they are from, or a sub that tells it of a caller.
sub marked {
    my ($marks, $line) = @_;
    return map {
        my ($caller, $called) = split /: /, $_, 2;
        map {
            my ($callee, $times, $depth) = /\A(.*?)(?: x(\d+))?( r\d+)?\z/;
            my $from = ref $line ? $line->($caller) : $line;
            join(' ', named($caller), $from, named($callee), 'x' . ($times || 1)) . ($depth // '') . "\n";
        } split /, /, $called;
    } split /; /, $marks;
}

sub named { return $_[0] =~ /::/ ? $_[0] : "main::$_[0]" }

# row NAME, PROGRAM, what it needs:
# since: the first perl that has the syntax or module; lines_since: the first that numbers its lines
# so; features: what is to be enabled; want: which subs' arcs are looked at; not: with which options
# the program is not run; files: what lies beside it; stmts: counts of statements; arcs: calls that
# are from no line of the program, as "CALLER LINE CALLEE xCOUNT [rDEPTH]" (NYTPTest::arc_lines)
sub row {
    my ($name, $code, %o) = @_;
    my @lines = split /^/, $code;
    for my $line (1 .. @lines) {
        $o{arcs} .= join '', marked($1, $line) if $lines[$line - 1] =~ s/ +#> (.*)//;
    }
    utf8::encode($code = join '', @lines);
    push @ROWS, { name => $name, arcs => '', %o, code => $code };
    return;
}

sub expand {
    my ($row, $opts) = @_;
    my ($slowops) = $opts =~ /slowops=(\d)/;
    $slowops = 2 if !defined $slowops;
    my $arcs = $row->{arcs};
    $arcs =~ s/\@\{\[ (.*) \]\}\n/join '', eval $1/e;
    $arcs =~ s/\{(.+?)\|(.+?)\|(.+?)\}/(($1, "CORE::$3", "$2::CORE:$3"))[$slowops]/ge;
    return join '', map { "$_\n" } sort split /\n/, $arcs;
}

# Code of -M is on line 1.
sub stmts_of {
    my ($row, $p) = @_;
    my $lines = stmt_lines($p);
    return $row->{features} ? $lines =~ s/\A1:\d+ //r : $lines;
}

# The first options are for all rows, each other for every second one.
sub run_rows {
    my ($first, @others) = matrix();
    for my $number (grep { $] >= ($ROWS[$_]{since} || 0) } 0 .. $#ROWS) {
        my $row = $ROWS[$number];
        my @options = ($first, @others[grep { ($_ + $number) % 2 } 0 .. $#others]);
        scenario $row->{name} => sub {
            my %program = (code => $row->{code}, files => $row->{files});
            $program{switches} = ["-Mfeature=$row->{features}"] if $row->{features};
            my $plain = run_plain(%program);
            for my $opts (grep { !$row->{not} || $_ !~ $row->{not} } @options) {
                my $label = $opts || 'default';
                my $run = run_prog(%program, opts => $opts);
                is $run->{status} << 8 | $run->{signal}, $plain->{status} << 8 | $plain->{signal},
                  "$label: status";
                is $run->{out}, $plain->{out}, "$label: output";
                my $p = profile_in($run) or do { fail "$label: a profile"; next };
                is join('', map { "$_\n" } arc_lines($p, want => $row->{want} || $NOT_CORE)),
                  expand($row, $opts), "$label: arcs";
                is join('; ', check_sums($p)), '', "$label: sums";
                is stmts_of($row, $p), $row->{stmts}, "$label: statements"
                  if defined $row->{stmts} && $opts !~ /stmts=0/ && $] >= ($row->{lines_since} || 0);
            }
        };
    }
    return;
}

1;
