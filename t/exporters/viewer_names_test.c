/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names for viewers: what breaks their line formats is escaped so that it can be undone, and
 * subs of one name are told apart by their files.
 */
#include "exporters/stacks/viewer_names.h"
#include "t/exporters/fixture.h"
#include "t/tap.h"

static int hex_value(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static bool is_escape(const char *at, size_t left)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    return left >= 4 && at[0] == '\\' && at[1] == 'x' && at[2] != '\0' && at[3] != '\0' &&
           strchr(hex, at[2]) != NULL && strchr(hex, at[3]) != NULL;
}

/* Undoing every \xHH gives the name again. */
static bool comes_back(struct nytp_name escaped, struct nytp_name name)
{
    size_t n = 0;
    for (uint32_t i = 0; i < escaped.len; n++) {
        char c = escaped.ptr[i];
        const bool escape = is_escape(escaped.ptr + i, escaped.len - i);
        if (escape)
            c = (char)(hex_value(escaped.ptr[i + 2]) << 4 | hex_value(escaped.ptr[i + 3]));
        i += escape ? 4 : 1;
        if (n >= name.len || name.ptr[n] != c)
            return false;
    }
    return n == name.len;
}

static void escapes(struct nytp_viewer_names *names, const char *bytes, size_t len,
                    const char *want, const char *what)
{
    const struct nytp_name name = {.ptr = bytes, .len = (uint32_t)len};
    struct nytp_name got = {0};
    const bool right = nytp_viewer_names_escape(names, name, &got) && got.len == strlen(want) &&
                       memcmp(got.ptr, want, got.len) == 0 && comes_back(got, name);
    if (!right)
        printf("# got %.*s\n", (int)got.len, got.ptr);
    ok(right, what);
}

#define ESCAPES(names, literal, want, what)                                                    \
    escapes(names, literal, sizeof literal - 1, want, what)

static void test_escapes(struct nytp_viewer_names *names)
{
    ESCAPES(names, "Foo::bar", "Foo::bar", "a usual name stays");
    ESCAPES(names, "main::__ANON__[(eval 5)[/x/a.pl:24]:1]",
            "main::__ANON__[(eval 5)[/x/a.pl:24]:1]", "a sub of an eval stays");
    ESCAPES(names, "(eval 5)[/x/a.pl:24]", "(eval 5)[/x/a.pl:24]", "an eval's file stays");
    ESCAPES(names, "a b\xc3\xa4;\"<&>' c", "a b\xc3\xa4;\"<&>' c",
            "punctuation and UTF-8 stay");
    ESCAPES(names, "a\0b", "a\\x00b", "NUL");
    ESCAPES(names, "a\nb\rc\td\x7f", "a\\x0ab\\x0dc\\x09d\\x7f", "control characters");
    ESCAPES(names, " a ", "\\x20a ", "a leading blank, not a trailing one");
    ESCAPES(names, " ", "\\x20", "a blank alone");
    ESCAPES(names, "(1", "\\x281", "what callgrind would take for a name id");
    ESCAPES(names, "(12) x", "\\x2812) x", "what callgrind would take for an id and a name");
    ESCAPES(names, "???", "\\x3f??", "callgrind's word for unknown");
    ESCAPES(names, "????", "????", "which is three question marks only");
    ESCAPES(names, "C:\\xampp\\x.pl", "C:\\xampp\\x.pl", "a Windows path stays");
    ESCAPES(names, "a\\x0ab", "a\\x5cx0ab", "what looks escaped is escaped");
    ESCAPES(names, "a\\x5cx0ab", "a\\x5cx5cx0ab", "twice, too");
    ESCAPES(names, "\\\n", "\\\\x0a", "a backslash before an escape");
}

static bool name_is(const struct nytp_viewer_names *names, uint32_t sub, const char *want)
{
    const struct nytp_name name = names->subs[sub];
    const bool same = name.len == strlen(want) && memcmp(name.ptr, want, name.len) == 0;
    if (!same)
        printf("# got %.*s\n", (int)name.len, name.ptr);
    return same;
}

int main(void)
{
    struct fixture f;
    fixture_begin(&f, 4);
    const uint32_t a = fixture_file(&f, "/x/a.pl"), b = fixture_file(&f, "/y/a.pl");
    const uint32_t same_b = fixture_file(&f, "/y/a.pl");
    f.files[same_b].name = f.files[b].name;
    const struct nytp_name dup = fixture_name("main::dup"), twin = fixture_name("main::twin");
    fixture_sub(&f, fixture_name("main::RUNTIME"), a, 1, 1);
    const uint32_t dup_a = fixture_sub(&f, dup, a, 3, 4), dup_b = fixture_sub(&f, dup, b, 3, 4);
    const uint32_t only = fixture_sub(&f, fixture_name("main::only"), b, 5, 6);
    const uint32_t twin_1 = fixture_sub(&f, twin, b, 7, 8);
    const uint32_t twin_2 = fixture_sub(&f, twin, same_b, 7, 8);
    fixture_node(&f, 0, 0, 0, 0, 1);
    struct nytp_viewer_names *names = nytp_viewer_names_new(fixture_finish(&f));

    test_escapes(names);
    ok(name_is(names, dup_a, "main::dup [/x/a.pl]"), "one name in two files: the first");
    ok(name_is(names, dup_b, "main::dup [/y/a.pl]"), "one name in two files: the second");
    ok(name_is(names, only, "main::only"), "a name in one file has no file appended");
    ok(name_is(names, twin_1, "main::twin") && name_is(names, twin_2, "main::twin"),
       "nothing to tell apart where the files have one name, too");
    nytp_viewer_names_free(names);
    fixture_free(&f);
    return done_testing();
}
