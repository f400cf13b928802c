/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source pages: colours of Perl.
 */
/* Perl cannot be parsed line by line, so only certain tokens are coloured. If a quote does not
 * end on its line, or a slash may or may not be a quote, the rest of the line stays plain. */
const KEYWORDS = new Set(("and do else elsif eq eval for foreach grep if join last local map my ne next no not or "
    + "our package require return split state sub unless until use while x").split(" "));
const TOKEN = new RegExp(["(\\s+)", "(<<~?(?:\"[^\"]*\"|'[^']*'|[A-Z_]\\w*))",
    "([$@%]#?\\$*(?:::)?[A-Za-z_]\\w*(?:::\\w+)*|\\$(?:\\d+|[^\\w\\s{(]))", "(\\d[\\w.]*)", "([A-Za-z_]\\w*(?:::\\w+)*)",
    "([\"'`/])", "."].join("|"), "sy");
const CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"};

/* Returns the end of a quote, behind its last delimiter, or -1 if it is not on this line. */
function quoteEnd(text, at, open) {
    const close = CLOSERS[open] || open;
    for (let depth = 1; at < text.length; at++) {
        if (text[at] === "\\")
            at++;
        else if (text[at] === close && --depth === 0)
            return at + 1;
        else if (text[at] === open)
            depth++;
    }
    return -1;
}

const flagsEnd = (text, at) => at + /^\w*/.exec(text.slice(at))[0].length;

/* Returns the end of q(…), m/…/, s{…}{…} and the like whose name ends at `at`, or 0. */
function operatorEnd(text, name, at) {
    const first = /^(?:\s*([^\w\s,;)=#])|(#)|\s*(=)(?![>=~\s]))/.exec(text.slice(at));
    if (!/^(?:q[qrwx]?|m|s|y|tr)$/.test(name) || !first)
        return 0;
    let open = first[1] || first[2] || first[3], end = quoteEnd(text, at + first[0].length, open);
    if (end > 0 && /^(?:s|y|tr)$/.test(name)) {
        const gap = CLOSERS[open] ? /^\s*([^\w\s])/.exec(text.slice(end)) : ["", open];
        end = gap ? quoteEnd(text, end + gap[0].length, gap[1]) : -1;
    }
    return end > 0 ? flagsEnd(text, end) : -1;
}

/* Returns [class, text] pairs; "" is plain. Adds ends of new here-documents to `here`. */
function perlTokens(text, here) {
    const found = [];
    let at = 0, value = false;      /* a value was read, so that a slash divides; undefined: who knows */
    const add = (kind, end) => {
        found.push([kind, text.slice(at, end)]);
        at = end;
    };
    while (at < text.length) {
        TOKEN.lastIndex = at;
        const [all, space, here_doc, variable, number, word, quote] = TOKEN.exec(text);
        const after = at + all.length;
        if (space) {
            add("", after);
        } else if (here_doc && (!value || /\W$/.test(all))) {
            here.push([/\w[^"']*/.exec(all)[0], all[2] === "~"]);
            add("s", after);
            value = true;
        } else if (number || variable && (all[0] !== "%" || !value)) {
            add(number ? "" : "v", after);
            value = true;
        } else if (word) {
            const plain = /->\s*$|[\w\]}>]\{\s*$/.test(text.slice(0, at)) && /^\s*[}(;,]|^\s*->/.test(text.slice(after))
                || /^\s*=>/.test(text.slice(after));
            const end = plain ? 0 : operatorEnd(text, word, after);
            if (end < 0)
                break;
            add(end ? "s" : !plain && KEYWORDS.has(word) ? "k" : "", end || after);
            value = end ? true : KEYWORDS.has(word) ? false : undefined;
        } else if (quote && (quote !== "/" || !value)) {
            const end = quote === "/" && value === undefined ? -1 : quoteEnd(text, after, quote);
            if (end < 0)
                break;
            add("s", quote === "/" ? flagsEnd(text, end) : end);
            value = true;
        } else if (all === "#" && /(?:^|[\s;{}(),])$/.test(text.slice(0, at))) {
            add("c", text.length);
        } else {
            value = /[)\]]/.test(all[0]) || (all[0] === "}" ? undefined : false);
            add("", text.startsWith("//", at) ? at + 2 : at + 1);
        }
    }
    if (at < text.length)
        add("", text.length);
    return found;
}

/* Reads a body of lines, and colours it if `show`. Returns the state behind it: the open
 * here-documents, and whether __END__ was reached. */
function perlBody(body, open, show) {
    for (const row of body.rows) {
        const cell = row.cells[row.cells.length - 1], code = cell && cell.firstChild;
        if (!code || code.nodeType !== 3 || row.cells.length < 2)
            continue;
        const text = code.data.replace(/\n$/, ""), here = open.here[0];
        const isCode = !open.ended && !here && !/^0/.test(cell.getAttribute("colspan") || "");
        open.ended = open.ended || isCode && /^__(?:END|DATA)__$/.test(text);
        if (here && (here[1] ? text.trim() : text) === here[0])
            open.here.shift();
        const tokens = isCode && text.length < 2000 ? perlTokens(text, open.here) : [];
        if (!show)
            continue;
        cell.style.setProperty("--in", Math.min(/^\s*/.exec(text)[0].replace(/\t/g, "        ").length + 2, 40) + "ch");
        if (tokens.some(([kind]) => kind))
            code.replaceWith(...tokens.map(([kind, part]) => kind ? make("span", {className: kind}, part) : part),
                code.data.slice(text.length));
    }
    return open;
}

/* Colours bodies when they come into view. Those above are only read for their state. */
function setUpColours(box) {
    const bodies = all("tbody:not(.foreign)", box), states = [{here: []}];
    const copy = state => ({...state, here: [...state.here]});
    const watch = new IntersectionObserver(seen => seen.filter(entry => entry.isIntersecting).forEach(({target}) => {
        const i = bodies.indexOf(target);
        for (let k = states.length - 1; k < i; k++)
            states.push(perlBody(bodies[k], copy(states[k])));
        perlBody(target, copy(states[i]), true);
        watch.unobserve(target);
    }), {rootMargin: "300px"});
    bodies.forEach(body => watch.observe(body));
}
