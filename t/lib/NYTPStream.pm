# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package NYTPStream;

# Reads a format 5.0 profile into plain Perl facts. Written from the description of the format
# alone, so that it judges the recorder and the C reader without sharing a line with either.
#
# read_profile never dies on damage: it returns what precedes it, with {error} set.

use strict;
use warnings;

use Compress::Raw::Zlib;
use Exporter qw(import);

our @EXPORT = qw(read_profile);

# Facts of one file:
#   version        "5.0"
#   attr, opt      hashes; opt_order, attr_order: keys in file order
#   comments       list of texts without the newline
#   pid            [pid, ppid, time] per PID_START;  pid_end: [pid, time] per PID_END
#   fid            fid -> {fid, eval_fid, eval_line, flags, size, mtime, name}
#   fid_order      fids in file order
#   stmt           fid -> line -> [count, ticks]
#   block          list of [ticks, fid, line, block_line, sub_line] (TIME_BLOCK)
#   entry          list of [fid, line];  ret: list of [depth, incl_ticks, excl_ticks, name, calls: 0 or 1]
#   sub            name -> list of [fid, first, last]
#   arc            list of {fid line caller count incl excl reci depth callee}, no markers
#   marker         callee -> number of marker records
#   src            fid -> line -> text
#   tags           the tags of all records in file order, as one string
#   discounts      number of DISCOUNT records
#   complete       every PID_START has its PID_END and nothing is damaged
#   error          why reading stopped early, or undef
sub read_profile {
    my ($path) = @_;
    open my $fh, '<:raw', $path or die "read_profile: $path: $!";
    my $bytes = do { local $/; <$fh> };
    return read_profile_bytes($bytes);
}

sub read_profile_bytes {
    my ($bytes) = @_;
    my $p = {
        attr => {}, opt => {}, attr_order => [], opt_order => [], comments => [], pid => [],
        pid_end => [], fid => {}, fid_order => [], stmt => {}, block => [], entry => [],
        ret => [], sub => {}, arc => [], marker => {}, src => {}, tags => '', discounts => 0,
        compressed => 0, file_size => length $bytes,
    };
    if ($bytes !~ /\ANYTProf (\d+) (\d+)\n/g) {
        $p->{error} = 'no header';
        return $p;
    }
    $p->{version} = "$1.$2";
    my $c = { b => $bytes, at => pos $bytes, p => $p };
    eval { parse($c); 1 } or do {
        chomp($p->{error} = $@);
    };
    my %open;
    $open{ $_->[0] }++ for @{ $p->{pid} };
    $open{ $_->[0] }-- for @{ $p->{pid_end} };
    $p->{complete} = !defined $p->{error} && @{ $p->{pid} } && !grep { $_ } values %open;
    return $p;
}

sub need {
    my ($c, $n) = @_;
    die "ends inside a record at $c->{at}\n" if length($c->{b}) - $c->{at} < $n;
    $c->{at} += $n;
    return substr $c->{b}, $c->{at} - $n, $n;
}

sub u32 {
    my ($c) = @_;
    my $first = ord need($c, 1);
    return $first if $first < 0x80;
    return (($first & 0x3f) << 8) | ord need($c, 1) if $first < 0xc0;
    return (($first & 0x1f) << 16) | unpack 'n', need($c, 2) if $first < 0xe0;
    return (($first & 0x0f) << 24) | unpack 'N', "\0" . need($c, 3) if $first < 0xff;
    return unpack 'N', need($c, 4);
}

sub nv { return unpack 'd', need($_[0], 8) }

sub str {
    my ($c, $raw) = @_;
    my $tag = need($c, 1);
    die sprintf "string tag expected at %d, found %02x\n", $c->{at} - 1, ord $tag
      if $tag ne q(') && $tag ne q(");
    my $text = need($c, u32($c));
    utf8::decode($text) unless $raw;
    return $text;
}

sub line {
    my ($c) = @_;
    my $end = index $c->{b}, "\n", $c->{at};
    die "text line without end at $c->{at}\n" if $end < 0;
    my $text = substr $c->{b}, $c->{at}, $end - $c->{at};
    $c->{at} = $end + 1;
    return $text;
}

sub inflate_rest {
    my ($c) = @_;
    die "second deflate start at $c->{at}\n" if $c->{p}{compressed}++;
    my ($z) = Compress::Raw::Zlib::Inflate->new(-AppendOutput => 1, -ConsumeInput => 1);
    my $in  = substr $c->{b}, $c->{at};
    my $out = '';
    my $status = $z->inflate($in, $out);
    $c->{p}{trailer} = $in if $status == Z_STREAM_END;
    $c->{cut} = "zlib stream ends early ($status)\n" if $status != Z_STREAM_END;
    @$c{qw(b at)} = ($out, 0);
}

# The prefix code as a regex; what its bytes mean is worked out once for each distinct spelling.
my $U = qr/[\x00-\x7f]|[\x80-\xbf].|[\xc0-\xdf]..|[\xe0-\xfe]...|\xff..../s;
my %VALUE;

sub value {
    my ($bytes) = @_;
    return $VALUE{$bytes} if defined $VALUE{$bytes};
    return $VALUE{$bytes} = u32({ b => $bytes, at => 0 });
}

sub signed {
    my ($v) = @_;
    return $v > 0x7fffffff ? $v - 2**32 : $v;
}

my %NUMBERS;

# Calls that are told in comments ("Calls in comments" in the description of the format) go where
# '>' and '<' go, {tags} included.

sub numbers {
    my ($text) = @_;
    my @values;
    while ($text =~ /\G([\x80-\xff]*)([\x10-\x7f])/gc) {
        my ($value, $weight) = (0, 1);
        for my $byte (unpack 'C*', $1) {
            $value += ($byte - 0x80 + 112) * $weight;
            $weight *= 128;
        }
        $value += (ord($2) - 0x10) * $weight;
        push @values, $value >= 2**63 ? -(~$value + 1) : $value;
    }
    die "a call's numbers are damaged\n" if (pos($text) || 0) != length $text;
    return @values;
}

sub enter_call {
    my ($p, $site, $point) = @_;
    push @{ $p->{calls}{open} }, [$site, $point, 0];
    push @{ $p->{entry} }, [@{ $p->{calls}{site}[$site] }[0, 1]];
    $p->{tags} .= '>';
}

sub leave_call {
    my ($p, $point) = @_;
    my $open = $p->{calls}{open};
    my ($site, $entered, $of_callees) = @{ pop @$open };
    my $incl = $point - $entered;
    $open->[-1][2] += $incl if @$open;
    push @{ $p->{ret} }, [@$open + 1, $incl, $incl - $of_callees, $p->{calls}{site}[$site][2],
        !delete $p->{resumed}];
    $p->{tags} .= '<';
}

# The entry or return that waited lies here.
sub settle_call {
    my ($p, $point) = @_;
    my ($code, $site) = @{ delete $p->{calls}{waiting} };
    $code == 2 ? enter_call($p, $site, $point) : leave_call($p, $point);
}

sub statement {
    my ($p, $ticks) = @_;
    my $c = $p->{calls};
    settle_call($p, $c->{axis} + $ticks) if $c->{waiting};
    $c->{axis} += $ticks;
}

# The point so many ticks after the last one, or after the last statement.
sub later {
    my ($c, $ticks) = @_;
    $c->{point} = $c->{axis} if $c->{axis} > $c->{point};
    return $c->{point} += $ticks;
}

sub call {
    my ($p, $code, $text) = @_;
    my $c = $p->{calls};
    if ($code == 1) {
        $text =~ /\A([\x80-\xff]*[\x10-\x7f])([\x80-\xff]*[\x10-\x7f])['"](.*)\z/s or die "damaged site\n";
        my ($fid, $line, $name) = ($1, $2, $3);
        $name =~ s/\\(.)/$1 eq 'n' ? "\n" : $1/ges;
        utf8::decode($name);
        push @{ $c->{site} }, [numbers("$fid$line"), $name];
        return;
    }
    my @n = @{ $NUMBERS{$text} ||= [numbers($text)] };
    if ($code == 2 || $code == 4) {
        $c->{waiting} = [$code, @n];
    } elsif ($code == 3) {
        enter_call($p, $n[0], later($c, $n[1]));
        leave_call($p, later($c, $n[2])) if @n == 3;
    } elsif ($code == 5) {
        leave_call($p, later($c, $n[0]));
    } elsif ($code == 6) {
        settle_call($p, later($c, $n[0]));
    } elsif ($code == 7) {
        $c->{axis} += $n[0];
    } elsif ($code == 8) {
        $_->[1] += $n[0] for @{ $c->{open} };
    } elsif ($code == 9) {
        push @{ $c->{open} }, [$n[0], $c->{axis} > $c->{point} ? $c->{axis} : $c->{point}, 0];
    } elsif ($code == 11) {
        $c->{open}[-1][0] = $n[0];
    } else {
        die "a call of kind $code\n";
    }
}

my %FIELDS;

# Most of a file is TIME_LINE, DISCOUNT, SUB_ENTRY and SUB_RETURN: these are matched in place, all
# else field by field.
sub parse {
    my ($c) = @_;
    my $p = $c->{p};
    my $discount = 0;
    my $tags = \$p->{tags};
    while ($c->{at} < length $c->{b}) {
        pos($c->{b}) = $c->{at};
        for ($c->{b}) {
            while (1) {
                if (/\G\+($U)($U)($U)/gco) {
                    my $ticks = signed($VALUE{$1} // value($1));
                    my $slot = $p->{stmt}{ $VALUE{$2} // value($2) }{ $VALUE{$3} // value($3) } ||= [0, 0];
                    $slot->[0]++ unless $discount;
                    $slot->[1] += $ticks;
                    statement($p, $ticks) if $p->{calls};
                    $discount = 0;
                    $$tags .= '+';
                } elsif (/\G-/gc) {
                    $p->{discounts}++;
                    $p->{double_discounts}++ if $discount;
                    $discount = 1;
                    $$tags .= '-';
                } elsif (/\G<($U)(.{8})(.{8})['"]($U)/gcso) {
                    my ($depth, $incl, $excl, $len, $at) = ($1, $2, $3, value($4), pos);
                    die "ends inside a record at $at\n" if length() - $at < $len;
                    my $name = substr $_, $at, $len;
                    pos() = $at + $len;
                    utf8::decode($name);
                    push @{ $p->{ret} }, [value($depth), unpack('d', $incl), unpack('d', $excl), $name,
                        !delete $p->{resumed}];
                    $$tags .= '<';
                } elsif ($p->{calls} && /\G#([\x01-\x0b])([^\n]*)\n/gc) {
                    call($p, ord $1, $2);
                } elsif (/\G>($U)($U)/gco) {
                    push @{ $p->{entry} }, [value($1), value($2)];
                    $$tags .= '>';
                } else {
                    last;
                }
            }
        }
        $c->{at} = pos $c->{b};
        last if $c->{at} >= length $c->{b};
        my $tag = substr $c->{b}, $c->{at}++, 1;
        my $read = $FIELDS{$tag}
          or die sprintf "unknown tag %02x at %d\n", ord $tag, $c->{at} - 1;
        my ($ticks, $fid, $line) = $read->($c, $p);
        $$tags .= $tag; # behind the call that lies where it ends
        next if $tag ne '*';
        my $slot = $p->{stmt}{$fid}{$line} ||= [0, 0];
        $slot->[0]++ unless $discount;
        $slot->[1] += $ticks;
        $discount = 0;
    }
    die $c->{cut} if $c->{cut};
}

# Reached where the regex of a frequent record found no whole one.
sub cut_short {
    my ($c) = @_;
    die "damaged or cut record at " . ($c->{at} - 1) . "\n";
}

%FIELDS = (
    ':' => sub {
        my ($c, $p) = @_;
        my ($k, $v) = split /=/, line($c), 2;
        push @{ $p->{attr_order} }, $k;
        $p->{attr}{$k} = $v;
    },
    '!' => sub {
        my ($c, $p) = @_;
        my ($k, $v) = split /=/, line($c), 2;
        push @{ $p->{opt_order} }, $k;
        $p->{opt}{$k} = $v;
    },
    '#' => sub {
        my ($c, $p) = @_;
        push @{ $p->{comments} }, line($c);
        $p->{attr_record}{$1} = $2 if $p->{comments}[-1] =~ /\Anytp-attribute ([^=]*)=(.*)/s;
        $p->{resumed} = 1 if $p->{comments}[-1] eq 'nytp-resumed';
        $p->{calls} = { axis => 0, point => 0, site => [], open => [] }
          if $p->{comments}[-1] eq 'nytp-calls 1' && defined $p->{attr}{basetime};
    },
    'z' => sub { inflate_rest($_[0]) },
    'P' => sub { my ($c, $p) = @_; push @{ $p->{pid} }, [u32($c), u32($c), nv($c)] },
    'p' => sub { my ($c, $p) = @_; push @{ $p->{pid_end} }, [u32($c), nv($c)] },
    '@' => sub {
        my ($c, $p) = @_;
        my %f;
        $f{$_} = u32($c) for qw(fid eval_fid eval_line flags size mtime);
        $f{name} = str($c);
        push @{ $p->{fid_order} }, $f{fid};
        $p->{fid}{ $f{fid} } = \%f;
    },
    '*' => sub {
        my ($c, $p) = @_;
        my @block = (signed(u32($c)), map { u32($c) } 1 .. 4);
        statement($p, $block[0]) if $p->{calls};
        push @{ $p->{block} }, \@block;
        return @block[0 .. 2];
    },
    '+' => \&cut_short,
    '>' => \&cut_short,
    '<' => \&cut_short,
    'S' => sub {
        my ($c, $p) = @_;
        my ($fid, $line) = (u32($c), u32($c));
        $p->{src}{$fid}{$line} = str($c, 1);
    },
    's' => sub {
        my ($c, $p) = @_;
        my ($fid, $name) = (u32($c), str($c));
        push @{ $p->{sub}{$name} }, [$fid, u32($c), u32($c)];
    },
    'c' => sub {
        my ($c, $p) = @_;
        my %a;
        @a{qw(fid line caller count)} = (u32($c), u32($c), str($c), u32($c));
        @a{qw(incl excl reci)} = (nv($c), nv($c), nv($c));
        @a{qw(depth callee)} = (u32($c), str($c));
        if (!$a{fid} && !$a{line} && !length $a{caller} && !$a{count}) {
            $p->{marker}{ $a{callee} }++;
        } else {
            push @{ $p->{arc} }, \%a;
        }
    },
);

1;
