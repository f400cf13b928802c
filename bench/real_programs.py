# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Programs and modules by others for bench/recorder --real, and what they are run on.

Each works for 0.3 to 3 s, prints what nobody reads, and writes nothing outside the folder that
is made for it. (pod2html sets the mode of the file it writes: as root it would take /dev/null
away from all others.) Their input is what perl brings with it, or is made here, the same each time.
"""
import os
import re
import shutil
import subprocess
import tarfile
import zipfile

# Name, Debian package, what runs: a command that Debian has, or modules and a piece of Perl that
# uses them. In both, {NAME} is an input of make_inputs(), {Some::Module} that module's file,
# {perl} the folder of perl's own modules.
COMMANDS = [
    ("perltidy", "perltidy", "perltidy -o /dev/null {CPAN}"),
    ("perlcritic", "libperl-critic-perl", "perlcritic -1 {File::Find}"),
    ("pod2man", "perl", "pod2man {pod} /dev/null"),
    ("pod2text", "perl", "pod2text {pod} /dev/null"),
    ("pod2html", "perl", "pod2html --cachedir={folder} --infile={pod} --outfile={folder}/page.html"),
    ("podchecker", "perl", "podchecker -nowarnings {pod}"),
    ("json_pp", "perl", "json_pp -f json -t json < {json}"),
    ("xsubpp", "perl", "xsubpp -noprototypes {xs}"),
    ("prove", "perl", "prove --exec cat {tap}"),
    ("ptar", "perl", "ptar -tzf {tar}"),
    ("zipdetails", "perl", "zipdetails {zip}"),
    ("enc2xs", "perl", "enc2xs -o {folder}/encoding.c {ucm}"),
    ("corelist", "perl", "corelist -a /^CPAN/"),
    ("splain", "perl", "splain < {warnings}"),
    ("ack", "ack", "ack --noenv -c -i sub.*return {perl}"),
    ("exiftool", "libimage-exiftool-perl", "exiftool -r -ext so {archlib}"),
    ("cloc", "cloc", "cloc --quiet {perl}/CPAN {perl}/ExtUtils"),
    ("markdown", "markdown", "markdown {markdown}"),
    ("tpage", "libtemplate-perl", "tpage {template}"),
    ("licensecheck", "licensecheck", "licensecheck {AutoSplit} {DB} {Digest} {feature}"),
    ("dpkg-parsechangelog", "dpkg-dev", "dpkg-parsechangelog --all -l {changelog}"),
    ("texi2any", "texinfo", "texi2any -o /dev/null {texinfo}"),
]
MODULES = [
    ("Text::CSV_PP", "libtext-csv-perl", """
        my $csv = Text::CSV_PP->new({binary => 1});
        open my $in, '<', shift or die;
        while (my $row = $csv->getline($in)) { $csv->combine(@$row); $csv->string }""", "{csv}"),
    ("Date::Manip", "libdate-manip-perl", """
        for my $day (1 .. 28) { for my $hour (0 .. 23) {
            my $date = ParseDate("$day March 2021 $hour:30");
            UnixDate(DateCalc($date, "+ 3 weeks 2 hours"), '%Y-%m-%d %H:%M') } }""", ""),
    ("Parse::RecDescent", "libparse-recdescent-perl", """
        my $parser = Parse::RecDescent->new(q(
            sum: product(s /[+-]/)
            product: factor(s /[*\\/]/)
            factor: /\\d+/ | /[a-z]\\w*/ | '(' sum ')'));
        my $text = join ' + ', map { "($_ * x$_ - 7) / (y + $_ * (3 - z))" } 1 .. 60;
        defined $parser->sum($text) or die for 1 .. 15""", ""),
    ("Spreadsheet::WriteExcel", "libspreadsheet-writeexcel-perl", """
        my $book = Spreadsheet::WriteExcel->new(shift);
        my $sheet = $book->add_worksheet;
        for my $row (0 .. 4500) { $sheet->write($row, $_, $_ % 2 ? $row / 7 : "text $row") for 0 .. 9 }
        $book->close""", "{folder}/book.xls"),
    ("YAML", "libyaml-perl", """
        my @rows = map { {id => $_, name => "row $_", tags => [1 .. 4], text => "a: $_\\nb"} } 1 .. 1200;
        YAML::Load(YAML::Dump(\\@rows))""", ""),
    ("YAML::Tiny", "libyaml-tiny-perl", """
        my @rows = map { {id => $_, name => "row $_", tags => [1 .. 4], text => "a $_"} } 1 .. 8000;
        YAML::Tiny->read_string(YAML::Tiny->new(\\@rows)->write_string)""", ""),
    ("HTML::TreeBuilder", "libhtml-tree-perl", """
        my $tree = HTML::TreeBuilder->new_from_file(shift);
        my @cells = $tree->look_down(_tag => 'td', class => 'c2');
        $tree->as_HTML; $tree->as_text""", "{html}"),
    ("Math::BigFloat", "perl", """
        Math::BigInt->import(lib => 'Calc');
        Math::BigFloat->bpi(400); Math::BigInt->new(1000)->bfac;
        Math::BigFloat->new($_)->bsqrt(40)->blog(undef, 30) for 2 .. 30""", ""),
    ("Text::Template", "libtext-template-perl", """
        my $template = Text::Template->new(TYPE => 'STRING', SOURCE =>
            'Dear {$name}, {for my $i (1 .. 5) { $OUT .= $i * $n . "; " }} {$n > 9 ? "big" : "small"}');
        $template->fill_in(HASH => {name => "n$_", n => $_}) for 1 .. 10000""", ""),
    ("SQL::Statement", "libsql-statement-perl", """
        my $parser = SQL::Parser->new('ANSI', {RaiseError => 1});
        SQL::Statement->new("SELECT a, b, c$_ FROM t JOIN u ON t.id = u.id WHERE a > $_ AND b LIKE 'x%'"
            . " ORDER BY c$_", $parser) for 1 .. 700""", ""),
    ("Graph", "libgraph-perl", """
        my $graph = Graph->new;
        for my $i (0 .. 600) { $graph->add_weighted_edge($i, ($i * $_ + 1) % 601, $_) for 2, 3, 5 }
        $graph->SP_Dijkstra(0, $_) for 5, 90; $graph->strongly_connected_components;
        $graph->topological_sort(empty_if_cyclic => 1)""", ""),
    ("PDF::API2", "libpdf-api2-perl", """
        my $pdf = PDF::API2->new; my $font = $pdf->font('Helvetica');
        for my $n (1 .. 60) { my $text = $pdf->page->text; $text->font($font, 9);
            for my $line (1 .. 60) { $text->translate(50, 800 - 12 * $line); $text->text("page $n line $line") } }
        PDF::API2->from_string($pdf->to_string)->page_count""", ""),
    ("B::Deparse", "perl", """
        require CPAN; my $deparse = B::Deparse->new;
        for my $name (sort keys %CPAN::Shell::) {
            my $code = CPAN::Shell->can($name) or next;
            $deparse->coderef2text($code) }
        for my $name (sort keys %B::Deparse::) {
            my $code = B::Deparse->can($name) or next;
            $deparse->coderef2text($code) }""", ""),
    ("Pod::Simple::XHTML", "perl", """
        my $parser = Pod::Simple::XHTML->new; $parser->output_string(\\my $out);
        $parser->parse_file(shift)""", "{pod}"),
]


# The longest documents of perl's package.
POD = ("CPAN", "Math::BigInt", "Math::BigFloat", "File::Temp", "Unicode::UCD", "ExtUtils::MM_Unix",
       "ExtUtils::MakeMaker", "Net::Ping", "Fatal", "overload", "Archive::Tar", "Benchmark",
       "Carp", "charnames", "Getopt::Long", "HTTP::Tiny", "Memoize", "Pod::Man", "Pod::Simple",
       "Test::More", "Text::Balanced", "TAP::Parser", "Time::Local", "Module::CoreList")


def write_csv(path):
    with open(path, "w", encoding="ascii") as out:
        for i in range(4000):
            out.write(f'{i},"a ""quoted"" {i}",{i / 8},plain text {i},,"x, y, {i % 7}"\n')


def write_json(path, n=10000):
    rows = (f'{{"id":{i},"name":"row \\"{i}\\"\\n","tags":["t1","t2",{i}],"price":{i / 8},"ok":true,'
            '"none":null}' for i in range(n))
    with open(path, "w", encoding="ascii") as out:
        out.write('{"rows":[' + ",\n".join(rows) + "]}\n")


def write_xs(path):
    with open(path, "w", encoding="ascii") as out:
        out.write('#include "EXTERN.h"\n#include "perl.h"\n#include "XSUB.h"\n\nMODULE = M  PACKAGE = M\n')
        for i in range(500):
            out.write(f"\nint\nf{i}(a, b, ...)\n    int a\n    char *b\n  PREINIT:\n    int c = {i};\n"
                      "  CODE:\n    RETVAL = a + (int)strlen(b) + c;\n  OUTPUT:\n    RETVAL\n")


def write_tap(path):
    with open(path, "w", encoding="ascii") as out:
        out.write("1..18000\n")
        for i in range(1, 18001):
            out.write(f"ok {i} - does what is said of {i}" + (" # TODO later\n" if i % 9 == 0 else "\n"))


def write_tar(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for i, name in enumerate(files * 16):
            tar.add(name, arcname=f"{i}/{os.path.basename(name)}")


def write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(40):
            for name in files:
                archive.write(name, f"{i}/{os.path.basename(name)}")


def write_ucm(path):
    with open(path, "w", encoding="ascii") as out:
        out.write('<code_set_name> "made"\n<mb_cur_min> 1\n<mb_cur_max> 2\n<subchar> \\x3F\nCHARMAP\n')
        for i in range(128):
            out.write(f"<U{i:04X}> \\x{i:02X} |0\n")
        for i in range(23000):
            out.write(f"<U{0x4E00 + i:04X}> \\x{0x81 + i // 190:02X}\\x{0x40 + i % 190:02X} |0\n")
        out.write("END CHARMAP\n")


def write_warnings(path):
    kinds = ("Use of uninitialized value $x in addition (+) at a.pl line {}.",
             'Name "main::y" used only once: possible typo at a.pl line {}.',
             "Can't locate object method \"z\" via package \"Q{}\" at b.pl line 4.",
             "Odd number of elements in hash assignment at c.pl line {}.")
    with open(path, "w", encoding="ascii") as out:
        out.writelines(kinds[i % 4].format(i) + "\n" for i in range(8000))


def write_markdown(path):
    with open(path, "w", encoding="ascii") as out:
        for i in range(600):
            out.write(f"# Part {i}\n\nSome *text* with `code {i}` and a [link](http://example.org/{i}).\n\n"
                      f"- one **{i}**\n- two\n    - nested _item_\n\n> quoted {i}\n\n    code block {i}\n\n")


def write_template(path):
    with open(path, "w", encoding="ascii") as out:
        out.write("[% MACRO cell(x) BLOCK %]<td>[% x | html %]</td>[% END -%]\n"
                  "[% FOREACH i IN [1..15000] -%]\n<tr>[% cell(i) %][% cell(\"a & b\") %]"
                  "[% IF i % 2 %]odd[% ELSE %]even[% END %][% i * 3 %]</tr>\n[% END %]\n")


def write_changelog(path):
    with open(path, "w", encoding="ascii") as out:
        for i in range(2500, 0, -1):
            out.write(f"made (1.{i}-1) unstable; urgency=low\n\n  * Change {i}. (Closes: #{i + 1000})\n"
                      "  * Another one,\n    of two lines\n\n"
                      " -- A Maintainer <a@example.org>  Mon, 04 Mar 2019 10:00:00 +0000\n\n")


def write_texinfo(path):
    with open(path, "w", encoding="ascii") as out:
        out.write("\\input texinfo\n@settitle Made\n@node Top\n@top Made\n")
        for i in range(400):
            out.write(f"@node Part {i}\n@chapter Part {i}\nText with @code{{code}} and @emph{{more}}, "
                      f"see @ref{{Top}}.\n@itemize\n@item one {i}\n@item two\n@end itemize\n"
                      "@example\nan example\n@end example\n@cindex entry\n")
        out.write("@bye\n")


def write_html(path):
    with open(path, "w", encoding="ascii") as out:
        out.write("<html><head><title>Made</title></head><body><table>\n")
        for i in range(3000):
            out.write(f'<tr><td class="c1">{i}</td><td class="c2">a &amp; <b>bold {i}</b></td>'
                      f'<td><a href="/{i}">link</a><p>unclosed</td></tr>\n')
        out.write("</table></body></html>\n")


def perl_says(code):
    return subprocess.run(["perl", "-MConfig", "-e", code], capture_output=True, text=True).stdout


def write_pod(path, modules):
    with open(path, "wb") as out:
        for module in modules:
            with open(module_file(module), "rb") as source:
                text = re.sub(rb"(?m)^=encoding.*\n|[^\x00-\x7F]", b"", source.read())
            out.writelines(re.findall(rb"(?ms)^=[a-z].*?^=cut\s*?\n", text))


def make_inputs(folder):
    """The inputs by name; they are written to `folder`."""
    inputs = {"folder": folder, "perl": perl_says("print $Config{privlibexp}"),
              "archlib": perl_says("print $Config{archlibexp}")}
    files = [os.path.join(inputs["perl"], "CPAN", f)
             for f in sorted(os.listdir(os.path.join(inputs["perl"], "CPAN"))) if f.endswith(".pm")]

    def made(name, write, *arguments, suffix=""):
        inputs[name] = os.path.join(folder, "input." + (suffix or name))
        write(inputs[name], *arguments)
    for name, write in (("csv", write_csv), ("json", write_json), ("xs", write_xs), ("tap", write_tap),
                        ("ucm", write_ucm), ("warnings", write_warnings), ("markdown", write_markdown),
                        ("template", write_template), ("changelog", write_changelog), ("html", write_html)):
        made(name, write)
    made("texinfo", write_texinfo, suffix="texi")
    made("pod", write_pod, POD)
    made("tar", write_tar, files, suffix="tar.gz")
    made("zip", write_zip, files)
    return inputs


def module_file(name):
    return perl_says(f"eval {{ require {name} }}; print $INC{{'{name.replace('::', '/')}.pm'}}")


def filled(word, inputs):
    return re.sub(r"\{([\w:]+)\}", lambda m: inputs.get(m[1]) or module_file(m[1]), word)


def real_programs(folder):
    """Those that are installed: by name the arguments of perl, and the file that is standard input
    or None. Says which are not."""
    inputs = make_inputs(folder)
    found = {}
    for name, package, line in COMMANDS:
        command, *words = line.split()
        path = shutil.which(command)
        if path is None:
            print(f"{name}: skipped, it is in Debian's package {package}")
            continue
        words = [filled(word, inputs) for word in words]
        source = None
        if "<" in words:
            words, source = words[:words.index("<")], words[-1]
        found[name] = ([path, *words], source)
    for name, package, code, argument in MODULES:
        if not module_file(name):
            print(f"{name}: skipped, it is in Debian's package {package}")
            continue
        found[name] = ([f"-M{name}", "-e", code, *([filled(argument, inputs)] if argument else [])], None)
    return found


def machine():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    with open(clock) as file:
        clock = file.read().strip()
    perl = subprocess.run(["perl", "-e", "print $^V"], capture_output=True, text=True).stdout
    return f"{(names or ['processor unknown'])[0]}, {len(names)} cores, clock {clock}, perl {perl}"
