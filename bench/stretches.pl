# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# One piece of work, again and again: recorded and not recorded in turn (bench/causal --cost).
#     NYTPROF=start=no perl -d:NYTProf stretches.pl NAME SECONDS
# Prints the nanoseconds of the stretches that were not recorded. As many were. A machine that
# changes its speed, or is busy, does so for both. Status 2: there is no such piece.
use strict;
use warnings;
use FindBin;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my $LONG = 0.02; # seconds of a stretch: to switch ops empties the processor's caches
my $MODULE = <<'P' x 4;
package Counter;
use strict;
sub new { my ($class, %o) = @_; return bless {n => 0, %o}, $class }
sub add {
    my ($self, $n) = @_;
    if (defined $n && $n > 0) { $self->{n} += $n }
    return $self->{n};
}
sub names { return map { "$_=" . ($_[0]{$_} // 'none') } sort keys %{ $_[0] } }
1;
P

my %piece = (
    perltidy => sub {
        require Perl::Tidy;
        return sub {
            my ($tidy, $said);
            Perl::Tidy::perltidy(source => \$MODULE, destination => \$tidy, stderr => \$said, argv => "-npro -se");
        };
    },
    json_pp => sub {
        require JSON::PP;
        my $json = JSON::PP->new;
        my $text = '{"rows":[' . join(',', map { qq({"id":$_,"name":"row \\"$_\\"\\n","tags":["t1",$_],"price":1.125,"ok":true}) } 1 .. 40) . ']}';
        return sub { $json->encode($json->decode($text)) };
    },
    perlcritic => sub {
        require Perl::Critic;
        my $critic = Perl::Critic->new(-severity => 1, -profile => '');
        return sub { $critic->critique(\$MODULE) };
    },
    tpage => sub {
        require Template;
        my $tt = Template->new;
        my $text = '[% FOREACH i IN [1..100] -%]<tr>[% i | html %][% IF i % 2 %]odd[% ELSE %]even[% END %][% i * 3 %]</tr>[% END %]';
        return sub { my $page = ''; $tt->process(\$text, {}, \$page) or die $tt->error };
    },
    mojo => sub {
        require "$FindBin::Bin/MojoApplication.pm";
        return sub { request(GET => '/'); request(GET => '/row/7'); request(POST => '/form', 'name=x') };
    },
    'Pod::Simple::XHTML' => sub {
        require Pod::Simple::XHTML;
        my $pod = "=head1 A\n\nText B<bold> I<it> C<code>.\n\n=over\n\n=item x\n\nMore L<perl> text.\n\n=back\n\n" x 10;
        return sub { my $parser = Pod::Simple::XHTML->new; $parser->output_string(\my $page); $parser->parse_string_document($pod) };
    },
    'Text::CSV_PP' => sub {
        require Text::CSV_PP;
        my $csv = Text::CSV_PP->new({binary => 1});
        return sub {
            for my $n (1 .. 60) {
                $csv->parse(qq($n,"a ""quoted"" $n",1.125,plain text $n,,"x, y")) or die;
                $csv->combine($csv->fields);
            }
        };
    },
    'HTML::TreeBuilder' => sub {
        require HTML::TreeBuilder;
        my $html = '<table>' . join('', map { "<tr><td class=c1>$_</td><td class=c2><b>x$_</b></td></tr>" } 1 .. 60) . '</table>';
        return sub { my $tree = HTML::TreeBuilder->new_from_content($html); $tree->look_down(class => 'c2'); $tree->as_HTML; $tree->delete };
    },
    exiftool => sub {
        require Image::ExifTool;
        return sub { Image::ExifTool->new->ImageInfo($^X) for 1 .. 5 };
    },
    statements => sub {
        # as many rounds of a loop a statement as real programs have: one in nine
        my ($x, $y, $text, @list, %seen, @pair) = (0, 0, 'abc');
        return sub {
            for my $n (1 .. 6000) {
                $x += $n;
                $y = $x & 0xff;
                $list[3] = $y;
                $seen{$y} = 1;
                $text = "x$y";
                $x++ if $text eq 'x7';
                $x ^= 1;
                $y = substr($text, 0, 2);
                @pair = ($x, $y);
            }
        };
    },
    calls => sub {
        my $add = sub { my $n = shift; return $n + 1 };
        return sub { my $x = 0; $x = $add->($x) for 1 .. 10_000 };
    },
    'subs in turn' => sub {
        return eval join "\n", (map { "sub turn$_ { my \$n = shift; return \$n + 1 }" } 1 .. 5000),
            'sub { my $x = 0;', (map { "\$x = turn$_(\$x);" } 1 .. 5000), '}';
    },
);

my ($name, $seconds) = @ARGV;
my $work = ($piece{$name} or exit 2)->();
sub now { return clock_gettime(CLOCK_MONOTONIC) }
$work->() for 1 .. 3;
my $begun = now();
$work->() for 1 .. 3;
my $times = 1 + int($LONG / (now() - $begun) * 3);
sub stretch { $work->() for 1 .. $times }

my ($plain, $end) = (0, now() + $seconds);
while (($begun = now()) < $end) {
    stretch();
    $plain += now() - $begun;
    DB::enable_profile();
    stretch();
    DB::disable_profile();
}
printf "%.0f\n", 1e9 * $plain;
