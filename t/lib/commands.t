# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The classic commands: options, pipes, exit status, and nothing but data on standard output.
# That they give what the stock commands give is for t/interop/api.t.

use lib 't/lib';
use Recorded qw(put record write_profile run_script slurp folder process_start process_end file_record);

use List::Util qw(sum0);
use Devel::NYTProf::Data;
use Devel::NYTProf::Reader;
use Devel::NYTProf::Run qw(profile_this);

my $folder = folder();
my ($start, $file, $end) = (process_start(), file_record(), process_end());
my $cut = write_profile('cut', $start, $file, "+\x05\x01\x03", '+');

sub profile { return Devel::NYTProf::Data->new({quiet => 1, filename => shift}) }
sub statements { return sum0(map { $_->sum_of_stmts_count } $_[0]->all_fileinfos) }

# Runs a command: its status, its output and what it says are together this text, or are like this.
sub runs {
    my ($name, $want, @command) = @_;
    my $got = join '', run_script(@command);
    return ref $want ? like($got, $want, $name) : is($got, $want, $name);
}

# Runs code whose commands have a file as their standard input.
sub on_stdin {
    my ($path, $code) = @_;
    open my $old, '<&', \*STDIN or die;
    open STDIN, '<', $path or die;
    my @result = $code->();
    open STDIN, '<&', $old or die;
    return @result;
}

for my $script (map {s{.*/}{}r} glob 'bin/nytprof{cg,calls,csv,html,merge,pf}') {
    runs("$script --help succeeds and prints its usage", qr/\A0\s*(?:Usage:\s*)?$script .*\n\z/s, $script, '--help');
    runs("$script with an unknown option is wrong usage, which is said", qr/\A2.*nosuch/s, $script, '--nosuch');
    runs("$script --version", "0$script 6.14\n", $script, '--version');
    like(slurp("bin/$script"), qr/^=head1 NAME\n\n$script - /m, 'it has a man page');
}

# -- nytprofmerge

my $program = 'sub w { 1 } w(); for my $n (1 .. 3) { my $pid = fork; '
    . 'if (!$pid) { w() for 1 .. $n; eval "w()"; exit } waitpid $pid, 0 }';
my $parent = record('fork', $program);
my @all = ($parent, sort grep { !/\.out\z/ } glob "$parent.*");
is(scalar @all, 4, 'a run that forked three times has four profiles');
runs('they are merged without a word', 0, 'nytprofmerge', '-o', "$folder/merged.out", @all);
my $merged = profile("$folder/merged.out");
is($merged->subinfo_of('main::w')->calls, 1 + 1 + 2 + 3 + 3, 'calls are added up');
is($merged->attributes->{complete}, 1, 'all processes are complete');
like($merged->attributes->{application}, qr/\Afork\.pl \(4 recordings\)\z/, 'the title tells the recordings');
my @parts = map { profile($_) } @all;
is(statements($merged), sum0(map { statements($_) } @parts), 'no statement is lost');
my $time = sum0(map { $_->attributes->{total_stmts_duration} } @parts);
cmp_ok(abs($merged->attributes->{total_stmts_duration} - $time), '<', 1e-9, 'nor time');
is(scalar(grep { $_->filename =~ /fork\.pl\z/ } $merged->noneval_fileinfos), 1,
    'files are unified by name');
runs('what was merged can be merged', 0, 'nytprofmerge', '-o', "$folder/again.out", "$folder/merged.out", $parent);
is(profile("$folder/again.out")->subinfo_of('main::w')->calls, 11, 'and calls are added up');
run_script('nytprofmerge', '-o', "$folder/$_.out", @all) for 'm1', 'm2';
is(slurp("$folder/m1.out"), slurp("$folder/m2.out"), 'the same inputs give the same bytes');
runs('-o - is standard output', qr/\A0NYTProf 5 0\n.*p/s, 'nytprofmerge', '-o', '-', '--compress=0', $parent);
on_stdin($parent, sub { run_script('nytprofmerge', '-o', "$folder/stdin.out", '-') });
is(profile("$folder/stdin.out")->subinfo_of('main::w')->calls, 1, '- is standard input');

my $others = write_profile('others', $start, $file, "+\x05\x01\x03", $end);
my $usec = put('usec.out', slurp($others) =~ s/ticks_per_sec=\d+/ticks_per_sec=1000000/r);
runs('profiles of other clocks can be merged', 0, 'nytprofmerge', '-o', "$folder/ticks.out", $others, $usec);
is(profile("$folder/ticks.out")->attributes->{total_stmts_duration}, 0.5e-6 + 5e-6,
    'ticks are converted');
my $plain = record('plain', '1;', 'stmts=0');
runs('profiles of other options can be merged, what that means is said',
    "0nytprofmerge: option stmts is 0 in $plain and was 1 before\n", 'nytprofmerge', '-o', "$folder/mixed.out", $parent, $plain);

my $steering = put('steering.out', slurp($plain) =~ s/!stmts=0/!stmts=\e/r);
runs('a value steers no terminal', qr/\A0nytprofmerge: option stmts is \? in \S+ and was 1 before\n\z/,
    'nytprofmerge', '-o', "$folder/mixed.out", $parent, $steering);

my $before = slurp("$folder/merged.out");
runs('a damaged input is an error that says where', qr/\A1nytprofmerge: \Q$cut\E: byte \d+: Profile data incomplete/,
    'nytprofmerge', '-o', "$folder/merged.out", $parent, $cut);
is(slurp("$folder/merged.out"), $before, 'and the output is left alone');
runs('--partial takes what there is, and the status tells', qr/\A3/, 'nytprofmerge', '--partial', '-o', "$folder/part.out", $cut, $parent);
my $part = profile("$folder/part.out");
is($part->attributes->{complete}, '', 'the result is not complete');
is($part->fileinfo_of('/x.p')->line_time_data->[3][1], 1, 'the sound part is in it');
is($part->subinfo_of('main::w')->calls, 1, 'so are the other inputs');
for my $signal (qw(INT TERM)) {
    my $pid = fork // die;
    if (!$pid) {
        $SIG{$signal} = 'DEFAULT';
        local $ENV{PERL5LIB} = join ':', map {"blib/$_"} qw(lib arch);
        exec $^X, 'bin/nytprofmerge', '-o', "$folder/stopped.out", ($parent) x 3000;
    }
    select undef, undef, undef, 0.01 until glob "$folder/stopped.out.*" or waitpid $pid, 1;
    kill $signal => $pid;
    waitpid $pid, 0;
    ok($? & 127, "SIG$signal ends it");
    is(join(' ', glob "$folder/stopped.out*"), '', 'and nothing of its output is left');
}
runs('an output that cannot be written is an error', qr/\A1nytprofmerge: /, 'nytprofmerge', '-o', "$folder/no/such", $parent);
runs('so is no input', qr/\A1nytprofmerge: \S+nosuch: cannot open: No such file/, 'nytprofmerge', "$folder/nosuch");
runs('nothing to merge is wrong usage', qr/\A2/, 'nytprofmerge');
{
    my $input = put('input.out', slurp($parent));
    symlink $input, "$folder/symbolic.out" or die;
    link $input, "$folder/hard.out" or die;
    for my $name (qw(input symbolic hard)) {
        runs("an input is not replaced: $name", "2nytprofmerge: $folder/$name.out is the input $input: it is not replaced\n",
            'nytprofmerge', '-o', "$folder/$name.out", $all[1], $input);
    }
    is(slurp($input), slurp($parent), 'it is as it was');
    ok(-l "$folder/symbolic.out", 'so is the link');
}
{
    my $runs = "$folder/runs";
    mkdir $_ or die for $runs, "$runs/below", "$folder/none";
    put("$runs/" . s{.*/}{}r, slurp($_)) for @all;
    put("$runs/.hidden.out", slurp($parent));
    put("$runs/below/other.out", slurp($parent));
    put("$_/notes", "no profile\n") for $runs, "$folder/none";
    my $of_folder = "$folder/of-folder.out";
    for my $name ($runs, "$runs/") {
        runs('a folder stands for the profiles in it', "0nytprofmerge: 4 profiles merged into $of_folder\n",
            'nytprofmerge', '-v', '-o', $of_folder, $name);
        is(slurp($of_folder), slurp("$folder/m1.out"), 'in the order of their names');
    }
    my $in_folder = "$runs/" . $all[1] =~ s{.*/}{}r;
    runs('none of them is replaced', "2nytprofmerge: $in_folder is the input $in_folder: it is not replaced\n",
        'nytprofmerge', '-o', $in_folder, $runs);
    runs('a folder without any is an error', "1nytprofmerge: $folder/none: no profile is in this folder\n",
        'nytprofmerge', '-o', $of_folder, "$folder/none");
}
is_deeply([grep {/\.tmp\z/} glob "$folder/*"], [], 'no temporary file is left');
{
    # The names that the temporary file could have, as links to a file of somebody else.
    my $victim = put('victim', 'precious');
    my $pid = fork;
    die "fork: $!" if !defined $pid;
    if (!$pid) {
        symlink $victim, "$folder/planted.out." . $$ . $_ for '.tmp', '.0.tmp', '.1.tmp';
        local @ENV{qw(PERL5LIB)} = join ':', map { Cwd::getcwd() . "/blib/$_" } qw(lib arch);
        exec $^X, 'bin/nytprofmerge', '-o', "$folder/planted.out", $parent;
        die;
    }
    waitpid $pid, 0;
    is($?, 0, 'a name that is taken is not used for the temporary file');
    is(slurp($victim), 'precious', 'nor is a link followed');
    ok(!-l "$folder/planted.out", 'and the output is no link');
    is(profile("$folder/planted.out")->subinfo_of('main::w')->calls, 1, 'but a profile');
}

# Two programs, each with a sub of that name: where call entries are missing the lines of both
# are needed to tell whose the statements are.
my @twins = map { record("twin$_", "\n" x $_ . 'sub f { my $x = shift; return $x }' . "\nf(\$_) for 1 .. $_;\n", 'calls=1') } 2, 3;
runs('subs of one name in two programs are merged', 0, 'nytprofmerge', '-o', "$folder/twins.out", @twins);
like(qx{bin/nytp-export --csv $folder/twins.out}, qr/^main::f,.*twin2\.pl,3,5,10,/m, 'with the statements of both');

# An eval that comes before the file that ran it, and one whose file never comes.
my $early = write_profile('early', $start, "\@\x02\x01\x03\x02\x00\x00'\x10(eval 1)[/x.p:3]",
    "\@\x04\x09\x03\x02\x00\x00'\x10(eval 2)[/y.p:3]", $file, "+\x01\x02\x01+\x02\x04\x01+\x03\x01\x03",
    $end);
runs('evals may come before what ran them', 0, 'nytprofmerge', '-o', "$folder/early-merged.out", $early);
my $evals = profile("$folder/early-merged.out");
is($evals->fileinfo_of('(eval 1)[/x.p:3]')->eval_fi->filename, '/x.p', 'and find it');
is($evals->attributes->{total_stmts_measured}, 3, 'no event is lost');
my $ring = write_profile('ring', $start, "\@\x01\x02\x01\x00\x00\x00'\x01a",
    "\@\x02\x01\x01\x00\x00\x00'\x01b", "+\x01\x01\x01+\x01\x02\x01", $end);
runs('files that ran each other are no loop', 0, 'nytprofmerge', '-o', "$folder/ring-merged.out", $ring);

# -- nytprofcsv

my $source = "sub f {\n\n\n    return 1;\n}\nf() for 1 .. 3;\n";
my $csv = record('csv', $source);
runs('nytprofcsv is silent', 0, 'nytprofcsv', '-f', $csv, '-o', "$folder/csv");
my ($report) = glob "$folder/csv/*csv-pl-1-line.csv";
is(slurp($report) =~ s/^[^#].*\n//mgr, "# Profile data generated by Devel::NYTProf::Reader\n"
        . "# Version: v$Devel::NYTProf::Reader::VERSION\n"
        . "# More information at http://metacpan.org/release/Devel-NYTProf/\n"
        . "# Format: time,calls,time/call,code\n", 'a report begins with four lines of comment');
my @rows = grep { !/^#/ } split /\n/, slurp($report);
is(scalar @rows, 6, 'one row for each line');
like($rows[3], qr/\A0\.\d{6},3,0\.\d{6},return 1;\z/, 'row N is line N');
is($rows[1], '0.000000,0,0.000000,', 'also where nothing is');
put('csv/mine', '');
rename $report, "$folder/csv/old-7-line.csv";
run_script('nytprofcsv', '--delete', '-f', $csv, '-o', "$folder/csv");
ok(-e "$folder/csv/mine" && !-e "$folder/csv/old-7-line.csv",
    '--delete deletes reports and nothing else');
my $blocks = record('blocks', $source, 'blocks=1');
run_script('nytprofcsv', '-f', $blocks, '-o', "$folder/blocks");
is_deeply([map {/-1-(\w+)\.csv\z/} sort glob "$folder/blocks/*blocks-pl-1-*"],
    [qw(block line sub)], 'a profile with blocks has reports by block and sub');
my $eval_blocks = record('evalblocks', 'eval "1" for 1, 2;', 'blocks=1:start=init');
run_script('nytprofcsv', '-f', $eval_blocks, '-o', "$folder/evalblocks");
is_deeply([map {/-(\w+)\.csv\z/} sort grep {/eval \d/} glob "\Q$folder\E/evalblocks/*"], ['line'],
    'a string eval has one by line, which is the sum of those that were merged');
runs('a profile that ends early is partial', qr/\A3nytprofcsv: \Q$cut\E: byte \d+: Profile data incomplete.*; going on with what came before\n\z/,
    'nytprofcsv', '-f', $cut, '-o', "$folder/csv-of-cut");
like(slurp("$folder/csv-of-cut/x-p-1-line.csv"), qr/^0\.\d+,1,0\.\d+,$/m, 'what came before is reported');
runs('what is no profile is an error', qr/\A1nytprofcsv: \S+noprofile: /,
    'nytprofcsv', '-f', put('noprofile', "none\n"), '-o', "$folder/csv");
runs('what stands behind the options is told', "0nytprofcsv: ignored: a.out b.out (use -f for the file)\n",
    'nytprofcsv', '-f', $csv, '-o', "$folder/csv", 'a.out', 'b.out');
runs('so is none', qr/\A1nytprofcsv: cannot read \S+nosuch: No such file/, 'nytprofcsv', '-f', "$folder/nosuch");

{
    my $hostile = write_profile('hostile', $start, file_record("/a\0b.pl\n"), "+\x05\x01\x03", $end);
    runs('a NUL in a file name stops nothing', 0, 'nytprofcsv', '-f', $hostile, '-o', "$folder/hostile");
    is(scalar @{[glob "$folder/hostile/a-b-pl*-1-line.csv"]}, 1, 'and is not in the name of the report');
    my $no_number = write_profile('no-number', ":cumulative_overhead_ticks=none\n", $start, $file, "+\x05\x01\x03", $end);
    runs('a cost that is no number is none', 0, 'nytprofcsv', '-f', $no_number, '-o', "$folder/no-number");
    my $far = write_profile('far', $start, $file, "+\x05\x01\x03", "s\x01'\x07main::f" . "\xff" x 5 . "\xff" x 5, $end);
    runs('a sub at the line 4294967295 needs no memory', 0, 'nytprofcsv', '-f', $far, '-o', "$folder/far");
    is(scalar(() = slurp("$folder/far/x-p-1-line.csv") =~ /^[^#]/mg), 3, 'and no row');
}

# -- nytprofpf

my ($pf_status, $pf_text) = run_script('nytprofpf', '-o', '-', '-f', record('pf', 'sub never { 1 } sub f { select undef, undef, undef, 0.05 } f() for 1 .. 4;'));
my %pf_row = map { (split /, /)[0] => [split /, /] } split /\n/, $pf_text;
is($pf_row{'main::f'}[5], 4, 'nytprofpf lists how often a sub was called');
cmp_ok($pf_row{'main::f'}[2], '>=', 200, 'the milliseconds of all of its calls');
cmp_ok(abs($pf_row{'main::f'}[3] - $pf_row{'main::f'}[2] / 4), '<', 0.001, 'and those of each');
is($pf_row{'main::never'}, undef, 'but no sub that never ran');
runs('a list that cannot be written is an error', qr/\A1nytprofpf: cannot write \S+no.such: /, 'nytprofpf', '-f', $csv, '-o', "$folder/no/such");
runs('of a profile that is cut it has what there is', qr/\A3Name, .*nytprofpf: \Q$cut\E: byte \d+.*; going on with/s, 'nytprofpf', '-f', $cut, '-o', '-');
runs('a profile that is not there is an error', qr/\A1nytprofpf: .*nosuch/, 'nytprofpf', '-f', "$folder/nosuch");

# -- Reader

# Names of files as a profile has them, and the names that their reports have with
# NYTPROF_FNAME_TRIM=N.
for my $case (
    ['/srv/app/lib/prog_with_name.pl', undef, 'srv-app-lib-prog_with_name-pl-1-line'],
    ['/srv/app/lib/prog_with_name.pl', 0, 'srv-app-lib-prog_with_name-pl-1-line'],
    ['/srv/' . 'x' x 40 . '/prog_with_name.pl', 50, 'prog_with_name-pl-1-line'],
    ['/srv/' . 'x' x 40 . '/prog_with_name.pl', 100, 'srv-' . 'x' x 40 . '-prog_with_name-pl-1-line'],
    ['(eval 1)[q/d1/d2/abcdefghi.pl:1]', 30, '(eval 1)[q-abcdefghi-pl-1]-1-line'],
    ['(eval 1)[q/d1/d2/abcdefghijklmnopq.pl:1]', 30, 'TOOLONG-1-line'],
    # what is left out counts as three dots
    ['/srv/' . 'x' x 40 . '/p.pl', 8, 'TOOLONG-1-line'],
    ['/srv/' . 'x' x 40 . '/p.pl', 9, 'p-pl-1-line'],
    [join('', map {"/folder_$_"} 10 .. 39) . '/x.pl', undef, 'x-pl-1-line'],
) {
    my ($file_name, $trim, $want) = @$case;
    local $ENV{NYTPROF_FNAME_TRIM} = $trim if defined $trim;
    my $long = write_profile('long', $start, file_record($file_name), "+\x05\x01\x03", $end);
    my $of_long = Devel::NYTProf::Reader->new($long, {quiet => 1});
    is($of_long->fname_for_fileinfo($of_long->{profile}->fileinfo_of(1)), $want, "name of the report: $want");
    runs('which can be written', 0, 'nytprofcsv', '-f', $long, '-o', "$folder/long");
    ok(-s "$folder/long/$want.csv", 'and has that name');
}

my $reader = Devel::NYTProf::Reader->new($csv, {quiet => 1});
is($reader->output_dir, '.', 'the default folder');
$reader->output_dir("$folder/csv");
my $main = $reader->{profile}->fileinfo_of(1);
like($reader->fname_for_fileinfo($main), qr/csv-pl-1-line\z/, 'name of a report');
like($reader->href_for_file($main, 4, 'sub'), qr/\Ahref="\S*csv-pl-1-sub\.html#4"\z/, 'its address');
like($reader->url_for_sub('main::f'), qr/-line\.html#1\z/, 'address of a sub');
ok(!eval { $reader->fname_for_fileinfo(undef); 1 } && $@ =~ /^No fileinfo at \Q$0\E/,
    'without a file there is no name');
$reader->set_param(datastart => sub { scalar(@_) . ' given' });
is($reader->get_param('datastart'), '0 given', 'get_param calls code');
is($reader->get_param('datastart', ['a', 'b']), '2 given', 'with its arguments');
$reader->set_param(datastart => '');
is($reader->set_param(suffix => undef), '.csv', 'set_param with undef tells what is set');
is($reader->set_param('suffix'), '.csv', 'and changes nothing');
ok($reader->_output_additional('style.css', "a {}\n"), 'more can be written');
is(slurp("$folder/csv/style.css"), "a {}\n", 'beside the reports');
ok(!eval { $reader->set_param(nosuch => 1); 1 }, 'an unknown parameter dies');
like($@, qr/^Attempt to set nosuch to 1 failed: nosuch is not a valid parameter/, 'so that one sees');
is($reader->file_has_been_modified("$folder/nosuch"), undef, 'no file was not modified');
my @seen;
$reader->{mk_report_source_line} = sub {
    my ($number, $text, $stats, $of_file, $profile, $file) = @_;
    push @seen, [$number, $text, $stats->{calls}, $stats->{subcall_count}, ref $profile, ref $file]
        if $file->fid == 1;
    return "$number: $text\n";
};
$reader->{mk_report_xsub_line} = sub { return "xsub $_[0]\n" };
$reader->set_param(suffix => '.txt');
$reader->set_param(header => sub { return 'H ' . $_[1]->fid . " $_[3]\n" });
$reader->set_param(footer => "F\n");
$reader->report({quiet => 1});
is_deeply($seen[5],
    [6, 'f() for 1 .. 3;', 1, 3, 'Devel::NYTProf::Data', 'Devel::NYTProf::FileInfo'],
    'a line is reported with all that is known of it');
my ($text) = glob "$folder/csv/*csv-pl-1-line.txt";
like(slurp($text), qr/\AH 1 line\n1: sub f \{\n2: \n.*6: f\(\) for 1 \.\. 3;\n.*F\n\z/s,
    'a report is header, lines, footer');

# A line that runs a string eval, in reports of all levels: its own time, the addresses that its
# report may use, and what a footer is given.
my $with_eval = Devel::NYTProf::Reader->new(
    record('witheval', qq{sub f { 1 }\neval "f();\\n" x 1000;\n}, 'blocks=1'), {quiet => 1});
my ($of_main, $of_eval) = $with_eval->{profile}->all_fileinfos;
my (%time, %address, @footer);
$with_eval->{mk_report_source_line} = sub {
    my ($number, $text, $stats, $of_file, $profile, $file) = @_;
    my $level = $with_eval->current_level;
    $address{$level} = join ' ', map { $with_eval->url_for_file($_) } $of_main, $of_eval;
    %time = (own => $stats->{time}, eval => $stats->{evalcall_stmts_time_nested})
        if $level eq 'line' && $file->fid == 1 && $number == 2;
    return '';
};
$with_eval->set_param(footer => sub { push @footer, $_[1]; return '' });
$with_eval->output_dir("$folder/csv");
$with_eval->report({quiet => 1});
is($time{own}, $of_main->line_time_data->[2][0], 'the time of a line has none of its string evals in it');
is($time{eval}, $of_eval->sum_of_stmts_time, 'which is told beside it');
is_deeply([map { [$address{$_} =~ /-(\w+)\.html/g] } qw(sub block line)], [(['line', 'line']) x 3],
    'addresses are those of reports by line, in each report');
like($with_eval->url_for_file($_->[0], 3, 'sub'), qr/-$_->[1]\.html#3\z/, "a report by $_->[1] can be named")
    for [$of_main, 'sub'], [$of_eval, 'line'];
is_deeply([sort @footer], [sort(($of_main->filename) x 3, $of_eval->filename)], 'footers get the names of files');
$with_eval->{mk_report_source_line} = undef;
$with_eval->report({quiet => 1});
like(slurp((glob "$folder/csv/*witheval-pl-1-line.csv")[0]), qr/^(??{sprintf '%f', $time{own} + $time{eval}}),\d+,[\d.]+,eval /m,
    'the line of a CSV report is the sum');

$reader->output_dir("$folder/no/such");
ok(!eval { $reader->report({quiet => 1}); 1 } && $@ =~ /^Unable to open \S+ for writing: No such/,
    'a report that cannot be written dies');

# -- Run

for my $name ('run.%p.out', '100%.out') {
    my $calls = eval { profile_this(src_code => 'sub f { 1 } f();', out_file => "$folder/$name")->subinfo_of('main::f')->calls };
    is($calls, 1, "out_file is $name as it stands") or diag $@;
}

# -- what is installed

is_deeply([grep { !-x "blib/script/$_" } qw(nytp-export nytprofcalls nytprofcg nytprofcsv nytprofhtml nytprofmerge nytprofpf)],
    [], 'nytp-export is installed beside the classic commands');
is(qx{blib/script/nytp-export --version} ? $? : 'silent', 0, 'and runs from there');
ok(-s "blib/$_", "with its man page $_") for qw(man1/nytp-export.1 share/man/man7/nytp-formats.7 share/man/man7/nytp-gate.7);

# -- nytprofcalls, nytprofcg

SKIP: {
    skip 'bin/nytp-export is not built', 10 if !-x 'bin/nytp-export';
    my $calls = record('calls', 'sub a { b() } sub b { 1 } a() for 1 .. 3; eval "sub { b() }->()" for 1, 2;');
    runs('nytprofcalls prints sorted stacks; evals differ not by their number', "0main::__ANON__[(eval 0)[calls.pl:1]:1] 2\n"
            . "main::__ANON__[(eval 0)[calls.pl:1]:1];main::b 2\nmain::a 3\nmain::a;main::b 3\n", 'nytprofcalls', '--calls', $calls);
    my $many = record('stable', <<'PERL', 'start=init:slowops=0');
sub leaf { 1 }
for my $n ('a' .. 'n') { eval "sub s_$n { leaf(); 1 }"; &{"s_$n"}() }
PERL
    my $want = join '', map {"main::s_$_ 1\nmain::s_$_;main::leaf 1\n"} 'i' .. 'n', 'a' .. 'h';
    on_stdin($many, sub { runs('--stable is the order of first returns, as text', "0$want", 'nytprofcalls', '--calls', '--stable', $_) })
        for $many, '-';
    runs('else it is that of names', qr/\A0main::s_a 1\n/, 'nytprofcalls', '--calls', $many);
    my $ticks = sum0((run_script('nytprofcalls', $calls))[1] =~ /(\d+)$/mg);
    my $excl = sum0(map { $_->excl_time } values %{profile($calls)->subname_subinfo_map});
    is($ticks, sprintf('%.0f', $excl * 1e7), 'without --calls it is exclusive time in ticks');
    runs('several files are added up', qr/^main::a 6$/m, 'nytprofcalls', '--calls', $calls, $calls);
    runs('no file is an error that names it', qr/\A1nytp-export: \S*nosuch/, 'nytprofcalls', "$folder/nosuch");
    runs('no argument is wrong usage', qr/\A2/, 'nytprofcalls');

    runs('nytprofcg is silent, but on a terminal', 0, 'nytprofcg', '-f', $calls, '-o', "$folder/calls.cg");
    (qx{script --version 2>&1} || '') =~ /util-linux/ and like(scalar qx{script -qec '$^X -Mblib bin/nytprofcg -f $calls -o $folder/calls.cg' /dev/null}, qr/nytprofcg: written to \S+calls.cg/, 'where it says where');
    like(slurp("$folder/calls.cg"), qr/^c?fn=.*main::a$/m, 'and writes a callgrind file');
    runs('-o - is standard output', '0' . slurp("$folder/calls.cg"), 'nytprofcg', '-f', $calls, '-o', '-');
}

done_testing();
