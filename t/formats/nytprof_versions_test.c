/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Streams of other perls and of older versions are read as nytprof-v5.md says: numbers of any
 * size and byte order, and the records of versions 1 to 4.
 */
#include "nytprof_streams.h"

/* Numbers */

/* As on a machine of the other byte order. */
static void put_reversed(struct bytes *b, void (*put_number)(struct bytes *b, double value),
                         double value)
{
    struct bytes le = {0};
    put_number(&le, value);
    for (size_t i = le.len; i-- > 0;)
        put_byte(b, le.data[i]);
    free(le.data);
}

static void put_number_big_endian(struct bytes *b, double value)
{
    put_reversed(b, put_double, value);
}

static void put_number_float(struct bytes *b, double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_le(b, bits, sizeof bits);
}

static void put_wide(struct bytes *b, double value, bool quad)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t sign = bits >> 63, fraction = bits & ((UINT64_C(1) << 52) - 1);
    uint64_t exponent = (bits >> 52 & 0x7ff) + 16383 - 1023;
    exponent = value == 0 ? 0 : (bits >> 52 & 0x7ff) == 0x7ff ? 0x7fff : exponent;
    const uint64_t top = sign << 15 | exponent;
    if (quad) {
        put_le(b, fraction << 60, 8);
        put_le(b, top << 48 | fraction >> 4, 8);
    } else {
        put_le(b, fraction << 11 | (exponent != 0 ? UINT64_C(1) << 63 : 0), 8);
        put_le(b, top | UINT64_C(0xdeadbeef) << 32, 8); /* padding holds anything */
    }
}

static void put_number_x87(struct bytes *b, double value)
{
    put_wide(b, value, false);
}

static void put_number_quad(struct bytes *b, double value)
{
    put_wide(b, value, true);
}

static void put_number_quad_big_endian(struct bytes *b, double value)
{
    put_reversed(b, put_number_quad, value);
}

static void put_number_two_doubles(struct bytes *b, double value)
{
    put_number_big_endian(b, value);
    put_number_big_endian(b, value / 1e17);
}

static void put_number_x87_12(struct bytes *b, double value)
{
    put_wide(b, value, false);
    b->len -= 4;
}

static void test_numbers(void)
{
    static const struct {
        const char *name;
        int size;
        void (*put)(struct bytes *b, double value);
        const char *time;
    } kinds[] = {
        {"double", 8, put_double, "1700000000.250000"},
        {"big-endian double", 8, put_number_big_endian, "1700000000.250000"},
        {"x87 long double", 16, put_number_x87, "1700000000.250000"},
        {"quad", 16, put_number_quad, "1700000000.250000"},
        {"big-endian quad", 16, put_number_quad_big_endian, "1700000000.250000"},
        {"pair of doubles", 16, put_number_two_doubles, "1700000000.250000"},
        {"x87 long double of 12 bytes", 12, put_number_x87_12, "1700000000.250000"},
        {"float", 4, put_number_float, "1700000000.000000"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char line[64], name[100], expected[512];
        snprintf(line, sizeof line, "NYTProf 5 0\n:nv_size=%d\n", kinds[i].size);
        struct bytes b = stream(line);
        put_record(&b, 'P', 2, 1, 2);
        kinds[i].put(&b, NOON);
        put_record(&b, '<', 1, 1);
        kinds[i].put(&b, 5);
        kinds[i].put(&b, -0.25);
        put_string(&b, "main::f");
        put_record(&b, '<', 1, 1);
        kinds[i].put(&b, 0);
        kinds[i].put(&b, 1e300 * 1e300);
        put_string(&b, "main::f");
        snprintf(expected, sizeof expected,
                 "VERSION 5.0\nATTRIBUTE key=\"nv_size\" value=\"%d\"\n"
                 "PID_START pid=1 ppid=2 time=%s\n"
                 "SUB_RETURN depth=1 incl=5 excl=-0.25 name=\"main::f\"\n"
                 "SUB_RETURN depth=1 incl=0 excl=inf name=\"main::f\"\n",
                 kinds[i].size, kinds[i].time);
        snprintf(name, sizeof name, "numbers as %s", kinds[i].name);
        is_read(&b, expected, name);
        free(b.data);
    }
    struct bytes b = stream("NYTProf 5 0\n:nv_size=7\n");
    is_refused(&b, NYTP_ERR_FORMAT, 12, "nv_size=7 is no size of a number", "VERSION 5.0\n");
    free(b.data);
}

/* Older versions */

static void test_version_1(void)
{
    struct bytes b = stream("NYTProf 1 0\n:basetime=5\n");
    put_record(&b, 'P', 2, 10, 9);
    put_record(&b, '@', 3, 1, 0, 0);
    put_text(&b, "/x/a.pl\n");
    put_record(&b, '+', 3, 7, 1, 3);
    put_record(&b, 's', 3, 1, 5, 8);
    put_text(&b, "main::a\n");
    put_record(&b, 'c', 3, 1, 3, 2);
    put_text(&b, "main::a\n");
    put_record(&b, 'p', 1, 10);
    is_read(&b,
            "VERSION 1.0\nATTRIBUTE key=\"basetime\" value=\"5\"\n"
            "PID_START pid=10 ppid=9 time=0.000000\n"
            "NEW_FID fid=1 eval=0:0 flags=0x0 size=0 mtime=0 name=\"/x/a.pl\"\n"
            "TIME_LINE ticks=7 at=1:3 block=0 sub=0\n"
            "SUB_INFO fid=1 lines=5-8 name=\"main::a\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=0 excl=0 reci=0 depth=0 caller=\"\""
            " callee=\"main::a\"\n"
            "PID_END pid=10 time=0.000000\n",
            "version 1.0");
    free(b.data);

    b = stream("NYTProf 1 1\n");
    put_record(&b, '@', 6, 1, 0, 0, 2, 300, 400);
    put_text(&b, "/x/a.pl\n");
    is_read(&b,
            "VERSION 1.1\n"
            "NEW_FID fid=1 eval=0:0 flags=0x2 size=300 mtime=400 name=\"/x/a.pl\"\n",
            "version 1.1");
    free(b.data);

    b = stream("NYTProf 1 2\n");
    put_record(&b, 'c', 3, 1, 3, 2);
    for (int i = 1; i <= 4; i++)
        put_double(&b, i);
    put_text(&b, "main::a\n-");
    is_read(&b,
            "VERSION 1.2\nSUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=0 depth=0 caller=\"\""
            " callee=\"main::a\"\nDISCOUNT\n",
            "version 1.2");
    free(b.data);
}

static void test_version_2(void)
{
    struct bytes b = stream("NYTProf 2 0\n");
    put_record(&b, 'P', 2, 10, 9);
    put_record(&b, '@', 6, 1, 0, 0, 2, 300, 400);
    put_string(&b, "/x/a.pl");
    put_record(&b, 'c', 3, 1, 3, 2);
    for (int i = 1; i <= 4; i++)
        put_double(&b, i);
    put_string(&b, "main::a");
    put_record(&b, 'p', 1, 10);
    is_read(&b,
            "VERSION 2.0\nPID_START pid=10 ppid=9 time=0.000000\n"
            "NEW_FID fid=1 eval=0:0 flags=0x2 size=300 mtime=400 name=\"/x/a.pl\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=0 depth=0 caller=\"\""
            " callee=\"main::a\"\nPID_END pid=10 time=0.000000\n",
            "version 2.0");
    free(b.data);

    b = stream("NYTProf 2 1\n");
    PUT_TIME(&b, 'P', 2, 10, 9);
    put_record(&b, 's', 3, 1, 5, 8);
    put_string(&b, "main::a");
    put_record(&b, 'c', 3, 1, 3, 2);
    for (int i = 1; i <= 5; i++)
        put_double(&b, i);
    put_u32(&b, 6);
    put_string(&b, "main::a");
    PUT_TIME(&b, 'p', 1, 10);
    is_read(&b,
            "VERSION 2.1\nPID_START pid=10 ppid=9 time=1700000000.250000\n"
            "SUB_INFO fid=1 lines=5-8 name=\"main::a\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=5 depth=6 caller=\"\""
            " callee=\"main::a\"\nPID_END pid=10 time=1700000000.250000\n",
            "version 2.1");
    free(b.data);
}

static void test_version_3(void)
{
    struct bytes b = stream("NYTProf 3 0\n");
    put_record(&b, 's', 1, 1);
    put_string(&b, "main::a");
    for (uint32_t i = 5; i <= 6; i++)
        put_u32(&b, i);
    put_u32(&b, 3);
    for (uint32_t i = 1; i <= 3; i++)
        put_u32(&b, i * 1000);
    put_record(&b, 'c', 2, 1, 3);
    put_string(&b, "main::main");
    put_u32(&b, 2);
    for (int i = 1; i <= 5; i++)
        put_double(&b, i);
    put_u32(&b, 6);
    put_string(&b, "main::a");
    put_record(&b, '+', 3, 0x80000005, 1, 3);
    put_record(&b, '+', 3, 0xffffffff, 1, 3);
    put_record(&b, '>', 2, 1, 1);
    is_read(&b,
            "VERSION 3.0\nSUB_INFO fid=1 lines=5-6 name=\"main::a\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=5 depth=6 caller=\"main::main\""
            " callee=\"main::a\"\n"
            "TIME_LINE ticks=2147483647 at=1:3 block=0 sub=0\nDISCOUNT\n"
            "TIME_LINE ticks=6 at=1:3 block=0 sub=0\n"
            "TIME_LINE ticks=2147483647 at=1:3 block=0 sub=0\nDISCOUNT\n"
            "TIME_LINE ticks=2147483647 at=1:3 block=0 sub=0\nDISCOUNT\n"
            "TIME_LINE ticks=1 at=1:3 block=0 sub=0\n"
            "SUB_ENTRY from=1:1\n",
            "version 3.0; its unsigned ticks are one statement in pieces");
    b.len = strlen("NYTProf 3 0\n");
    put_record(&b, 's', 1, 1);
    put_string(&b, "main::a");
    for (uint32_t i = 0; i < 2; i++)
        put_u32(&b, i);
    put_u32(&b, 0xfffffff0);
    for (uint32_t i = 0; i < 100000; i++)
        put_u32(&b, i);
    is_refused(&b, NYTP_ERR_LIMIT, 12, "SUB_INFO with 4294967280 extra numbers",
               "VERSION 3.0\n");
    free(b.data);
}

static void test_version_4(void)
{
    struct bytes b = stream("NYTProf 4 0\n");
    struct bytes records = {0};
    put_records(&records);
    put(&b, records.data, records.len);
    is_read(&b, joined("VERSION 4.0\n", records_text, ""), "version 4.0");
    free(records.data);
    free(b.data);
}

int main(void)
{
    test_numbers();
    test_version_1();
    test_version_2();
    test_version_3();
    test_version_4();
    return done_testing();
}
