/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * An anonymous sub is named by the line of its closing brace, or, where that is not found, by
 * its first statement: never by the brace of another.
 */
#include "spy/record/named_line.h"

#include "t/tap.h"

#include <string.h>

static const struct {
    const char *name, *source;
    uint32_t first_statement, named_by;
} cases[] = {
    {"a sub of several lines", "my $f = sub {\n    f();\n    if (1) {\n    }\n};\n", 2, 5},
    {"a sub of one line", "my $f = sub { f() };\n", 1, 1},
    {"code behind the brace", "my $f = sub { f();\n    g({}) };\n1;\n", 1, 2},
    {"braces in quotes", "my $f = sub { f(\"}\", '}');\n    g() };\n", 1, 2},
    {"a brace of its own line", "my $f = sub\n{\n    f();\n};\n", 3, 4},
    {"a signature", "my $f = sub ($x) {\n    f();\n};\n", 2, 3},
    {"a comment and `use` above the statement",
     "my $f = sub {\n    # }\n    no strict;\n\n    f();\n};\n", 5, 6},
    {"a statement that perl places at its second line",
     "f(sub {\n    my ($x) =\n        f();\n});\n", 3, 4},
    {"one that begins where another ends",
     "f(a => sub {\n    f();\n}, b => sub {\n    g();\n});\n", 4, 5},
    {"a sub in a sub's first statement", "f(sub {\n    g(sub { h() });\n});\n", 2, 3},
    {"a block that is no sub here",
     "f(sub {\n    f();\n    return first {\n        g();\n    } 1;\n});\n", 4, 4},
    {"a block in the first statement",
     "f(sub {\n    return first {\n        g();\n    } 1;\n});\n", 3, 3},
    {"a sub with a name", "sub named {\n    return first {\n        g();\n    } 1;\n}\n", 3, 3},
    {"a brace that is not there", "my $f = sub {\n    f();\n", 2, 2},
    {"a line that is not there", "my $f = sub {\n", 7, 7},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *const source =
            fmemopen((void *)(uintptr_t)cases[i].source, strlen(cases[i].source), "r");
        if (source == NULL)
            return 1;
        const uint32_t line = nytp_anonymous_line(source, cases[i].first_statement);
        ok(line == cases[i].named_by, cases[i].name);
        fclose(source);
    }
    return done_testing();
}
