/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes the results of limits; see gate_answers.h. Breaches are in the order of the rules.
 */
#include "gate_answers.h"

#include "exporters/base/html.h"
#include "exporters/base/markdown.h"

#include <string.h>

static const char *const verdict_marks[] = {
    [NYTP_GATE_KEPT] = "✅", [NYTP_GATE_BROKEN] = "❌", [NYTP_GATE_UNJUDGED] = "❔"};

uint32_t nytp_gate_count(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                         enum nytp_gate_verdict verdict)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < gate->n_rules; i++)
        n += result->answers[i].verdict == verdict;
    return n;
}

/* ---- TAP ---- */

void nytp_gate_put_tap(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                       struct nytp_out *out)
{
    nytp_printf(out, "1..%lu\n", (unsigned long)gate->n_rules);
    uint32_t at = 0;
    for (uint32_t i = 0; i < gate->n_rules; i++) {
        const struct nytp_gate_answer *answer = &result->answers[i];
        nytp_printf(out, "%sok %lu - ", answer->verdict == NYTP_GATE_KEPT ? "" : "not ",
                    (unsigned long)i + 1);
        for (const char *c = gate->rules[i].text; *c != '\0'; c++)
            nytp_puts(out, *c == '#' ? "\\#" : (const char[]){*c, '\0'});
        nytp_putc(out, '\n');
        for (; at < result->n_offenders && result->offenders[at].rule == i; at++)
            nytp_printf(out, "# %s\n", result->offenders[at].message);
        if (answer->verdict != NYTP_GATE_BROKEN)
            nytp_printf(out, "# %s%s\n",
                        answer->verdict == NYTP_GATE_UNJUDGED ? "cannot be judged: " : "",
                        answer->text);
    }
}

/* ---- GitHub ---- */

static void put_github_text(struct nytp_out *out, const char *text, size_t len, bool property)
{
    for (; len > 0; text++, len--) {
        const bool special = *text == '%' || (property && (*text == ':' || *text == ','));
        if (special)
            nytp_printf(out, "%%%02X", (unsigned char)*text);
        else
            nytp_putc(out, *text);
    }
}

/* A rule in a file is shown at its line. */
static void put_github_rule(const struct nytp_gate_rule *rule, const char *text,
                            struct nytp_out *out)
{
    nytp_puts(out, "::error");
    if (rule->place != NULL) {
        const char *line = strrchr(rule->place, ':');
        nytp_puts(out, " file=");
        put_github_text(out, rule->place, (size_t)(line - rule->place), true);
        nytp_printf(out, ",line=%s", line + 1);
    }
    nytp_puts(out, "::cannot be judged: ");
    put_github_text(out, text, strlen(text), false);
}

static void put_github_breach(const struct nytp_gate_offender *offender, struct nytp_out *out)
{
    nytp_puts(out, "::error file=");
    put_github_text(out, offender->place, strlen(offender->place), true);
    if (offender->line > 0)
        nytp_printf(out, ",line=%lu", (unsigned long)offender->line);
    nytp_puts(out, "::");
    put_github_text(out, offender->message, strlen(offender->message), false);
}

static void put_github_end(const struct nytp_gate_rule *rule, struct nytp_out *out)
{
    nytp_puts(out, " [");
    put_github_text(out, rule->text, strlen(rule->text), false);
    nytp_puts(out, "]\n");
}

void nytp_gate_put_github(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                          struct nytp_out *out)
{
    for (uint32_t i = 0; i < result->n_offenders; i++) {
        put_github_breach(&result->offenders[i], out);
        put_github_end(&gate->rules[result->offenders[i].rule], out);
    }
    for (uint32_t i = 0; i < gate->n_rules; i++) {
        if (result->answers[i].verdict != NYTP_GATE_UNJUDGED)
            continue;
        put_github_rule(&gate->rules[i], result->answers[i].text, out);
        put_github_end(&gate->rules[i], out);
    }
}

/* ---- JUnit ---- */

static void put_attribute(struct nytp_out *out, const char *name, const char *text)
{
    nytp_printf(out, " %s=\"", name);
    nytp_html_attribute(out, text, strlen(text));
    nytp_putc(out, '"');
}

void nytp_gate_put_junit(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                         struct nytp_out *out)
{
    static const char *const elements[] = {[NYTP_GATE_KEPT] = NULL,
                                           [NYTP_GATE_BROKEN] = "failure",
                                           [NYTP_GATE_UNJUDGED] = "error"};
    nytp_printf(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<testsuite name=\"limits\" tests=\"%lu\" failures=\"%lu\" errors=\"%lu\">\n",
                (unsigned long)gate->n_rules,
                (unsigned long)nytp_gate_count(gate, result, NYTP_GATE_BROKEN),
                (unsigned long)nytp_gate_count(gate, result, NYTP_GATE_UNJUDGED));
    uint32_t at = 0;
    for (uint32_t i = 0; i < gate->n_rules; i++) {
        const struct nytp_gate_rule *rule = &gate->rules[i];
        const char *element = elements[result->answers[i].verdict];
        nytp_puts(out, "<testcase");
        put_attribute(out, "classname", rule->place != NULL ? rule->place : "--fail-over");
        put_attribute(out, "name", rule->text);
        nytp_puts(out, ">\n");
        if (element != NULL) {
            nytp_printf(out, "<%s", element);
            put_attribute(out, "message", result->answers[i].text);
            nytp_putc(out, '>');
            for (; at < result->n_offenders && result->offenders[at].rule == i; at++) {
                nytp_html_puts(out, result->offenders[at].message);
                nytp_putc(out, '\n');
            }
            nytp_printf(out, "</%s>\n", element);
        } else {
            nytp_puts(out, "<system-out>");
            nytp_html_puts(out, result->answers[i].text);
            nytp_puts(out, "</system-out>\n");
        }
        nytp_puts(out, "</testcase>\n");
    }
    nytp_puts(out, "</testsuite>\n");
}

/* ---- Markdown ---- */

void nytp_gate_put_markdown(const struct nytp_gate *gate, const struct nytp_gate_result *result,
                            struct nytp_out *out)
{
    const uint32_t n_kept = nytp_gate_count(gate, result, NYTP_GATE_KEPT);
    nytp_printf(out, "### %lu of %lu limits kept\n\n| | limit | measured |\n|---|---|---|\n",
                (unsigned long)n_kept, (unsigned long)gate->n_rules);
    for (uint32_t i = 0; i < gate->n_rules && out->n_bytes < NYTP_MARKDOWN_ROOM / 2; i++) {
        nytp_printf(out, "| %s | ", verdict_marks[result->answers[i].verdict]);
        nytp_markdown_code(out, nytp_name_of_text(gate->rules[i].text));
        nytp_puts(out, " | ");
        nytp_markdown_text(out, nytp_name_of_text(result->answers[i].text));
        nytp_puts(out, " |\n");
    }
    nytp_putc(out, '\n');
}
