/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The script of the HTML report: sorting, filtering, heat, keys, theme, flame graph. README.md
 * describes the pages. Their policy allows no inline script or style, and `file:` allows no
 * fetch. So elements are made one by one, and data comes as a script. The reader's choices are
 * in the fragment (#sort=excl&q=Foo), so that an address can be passed on.
 */
(function () {
"use strict";

const nytp = window.nytp = {};
const html = document.documentElement;
const find = (selector, where) => (where || document).querySelector(selector);
const all = (selector, where) => [...(where || document).querySelectorAll(selector)];

/* ---------------------------------------------------------------- elements, numbers, storage */

/* Makes an element with properties (or attributes, if there are none) and children. */
function make(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties || {})) {
        if (key in element && !key.includes("-"))
            element[key] = value;
        else
            element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
}

const button = (text, title, onclick) => make("button", {type: "button", title, onclick}, text);

const press = (element, on) => element.setAttribute("aria-pressed", on);

const div = (className, ...children) => make("div", {className}, ...children);
const span = text => make("span", {}, text);
const count = n => n.toLocaleString("en");
const percent = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(part > whole / 10 ? 1 : 2) + "%";

/* Three digits and a unit, like the times on the pages. */
function time(ns) {
    const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
    const [size, unit] = units.find(([least]) => Math.abs(ns) >= least * 0.9995) || units[3];
    const value = ns / size;
    const digits = unit === "ns" || Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
    return value.toFixed(digits) + unit;
}

/* Some browsers refuse storage to a page from a file. Then nothing is remembered. */
function stored(where, key, value) {
    try {
        if (value !== undefined)
            window[where].setItem("nytp." + key, value);
        return window[where].getItem("nytp." + key) || "";
    } catch {
        return "";
    }
}
const kept = (key, value) => stored("localStorage", key, value);
const keptHere = value => stored("sessionStorage", page.dataset.file, value);

/* Makes a search field. */
const field = (text, title, properties) => make("input",
    {type: "search", autocomplete: "off", spellcheck: false, placeholder: text, "aria-label": title, title, ...properties});

/* Returns a function that matches the field's text: ignoring case if it has no capitals;
 * "re:" begins a regular expression. Returns null and marks the field if the expression is
 * invalid. */
function matcher(input, query = input.value) {
    const source = query.startsWith("re:") ? query.slice(3) : query.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    let expression = null;
    try {
        expression = new RegExp(source, /[A-Z]/.test(query) ? "u" : "iu");
    } catch {
        /* the field is marked */
    }
    input.setAttribute("aria-invalid", !expression);
    return expression && (text => expression.test(text));
}

/* ---------------------------------------------------------------- theme (before the first paint) */

const NEXT_THEME = {auto: "light", light: "dark", dark: "auto"};
let theme = NEXT_THEME[kept("theme")] ? kept("theme") : "auto";
/* Functions to call when theme or fragment have changed. */
const redraws = [];

function showTheme() {
    html.classList.toggle("light", theme === "light");
    html.classList.toggle("dark", theme === "dark");
    colours.clear();
    redraws.forEach(draw => draw());
}

/* Returns a colour of the style sheet in this theme. A canvas does not know light-dark(). */
const probe = make("i"), colours = new Map();
function colour(name) {
    if (!colours.has(name)) {
        html.append(probe);
        probe.style.color = `var(--${name})`;
        colours.set(name, getComputedStyle(probe).color);
        probe.remove();
    }
    return colours.get(name);
}
showTheme();
const isDark = () => theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);

function onKeys(event, keys) {
    const work = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
    if (work) {
        event.preventDefault();
        event.stopPropagation();
        work();
    }
}

/* ---------------------------------------------------------------- pages and their fragments */

/* In a folder a document is one page. A single file has all pages and shows one. */
let pages = [], page = null;
const prefix = () => page.dataset.idPrefix || "";

function fragment() {
    const text = location.hash.slice(1);
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

function settings() {
    const text = location.hash.slice(1).replace(/^[^=]*[.]html(:|%3A)/, "");
    return new URLSearchParams(/^[\w.]+=/.test(text) ? text : text && text !== page.id ? "" : keptHere());
}

function address(text) {
    const home = prefix() ? page.id : "";
    try {
        history.replaceState(null, "", text || home ? "#" + (text ? prefix() + text : home) : location.pathname);
    } catch {
        /* the address does not change */
    }
}

function setting(key, value) {
    const now = settings();
    if ((now.get(key) || "") === value)
        return;
    now.set(key, value);
    if (!value)
        now.delete(key);
    keptHere(now.toString());
    address(now.toString());
}

/* ---------------------------------------------------------------- tables: sort and filter */

/* Returns the exact number of a cell. A cell in nanoseconds has all digits in its text. */
const numberOf = cell => +(cell.dataset.n || cell.textContent.replace(/[^\d.-]/g, ""));

function cellValue(row, column, isText) {
    const cell = row.cells[column];
    return isText ? (find("a", cell) || cell).textContent : numberOf(cell);
}

function setUpTable(box, main) {
    const table = find("table", box), heads = [...table.tHead.rows[0].cells];
    const name = table.id.slice(prefix().length), key = name === main ? "" : name + ".";
    const written = [...table.tBodies].flatMap(body => [...body.rows]);
    const sumColumn = heads.findIndex(head => head.dataset.key === box.dataset.sum);
    let texts = null, order = null;

    function place(rows) {
        const perBody = Math.ceil(rows.length / table.tBodies.length);
        [...table.tBodies].forEach((body, i) =>
            body.replaceChildren(...rows.slice(i * perBody, (i + 1) * perBody)));
    }

    /* The page is initially sorted by the column in data-sort. */
    function sort(wanted) {
        const column = heads.findIndex(head => head.dataset.key === wanted.replace("-", ""));
        if (wanted === order || column < 0)
            return;
        const isText = heads[column].dataset.kind === "text", upward = isText !== wanted.startsWith("-"), sign = upward ? 1 : -1;
        if (order || wanted !== box.dataset.sort) {
            const keyed = written.map(row => ({row, value: cellValue(row, column, isText)}));
            keyed.sort((a, b) => sign * ((a.value > b.value) - (a.value < b.value)));
            place(keyed.map(entry => entry.row));
        }
        order = wanted;
        heads.forEach((head, i) => i === column
            ? head.setAttribute("aria-sort", upward ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
    }

    const input = field("filter, or re:expression", "Filter " + name), said = make("output");

    function filter() {
        const matches = matcher(input);
        if (!matches) {
            said.textContent = "no regular expression";
            return;
        }
        texts = texts || written.map(row => heads.map((head, i) =>
            head.dataset.kind ? row.cells[i].textContent + " " + row.cells[i].title : "").join(" "));
        let shown = 0, sum = 0;
        written.forEach((row, i) => {
            row.hidden = !matches(texts[i]);
            if (!row.hidden) {
                shown++;
                sum += sumColumn < 0 ? 0 : cellValue(row, sumColumn, false);
            }
        });
        said.textContent = input.value ? `${count(shown)} of ${count(written.length)}`
            + (sumColumn < 0 ? "" : ", " + time(sum)) : "";
    }

    function follow() {
        const now = settings();
        sort(now.get(key + "sort") || box.dataset.sort || "");
        if (input.value !== (now.get(key + "q") || "") || texts) {
            input.value = now.get(key + "q") || "";
            filter();
        }
    }

    heads.filter(head => head.dataset.key).forEach(head => {
        const label = make("button", {type: "button", title: head.title});
        label.append(...head.childNodes);
        head.append(label);
        label.onclick = () => {
            const next = order === head.dataset.key ? "-" + order : head.dataset.key;
            setting(key + "sort", next === box.dataset.sort ? "" : next);
            sort(next);
        };
    });
    if (written.length > 20) {
        input.oninput = () => {
            filter();
            setting(key + "q", input.value);
        };
        table.before(div("bar", input, said));
    }
    redraws.push(follow);
    follow();
}

/* ---------------------------------------------------------------- source pages */

const heatOf = element => +((/\bh(\d)/.exec(element.className) || [0, 0])[1]);

/* Marks this row, if any, and no other. */
function markHere(row) {
    all(".here").forEach(old => old.classList.remove("here"));
    if (row)
        row.classList.add("here");
}

function goToRow(row) {
    address(row.id.slice(prefix().length));
    markHere(row);
}

/* Lines without a heat class did not run; the mark's class is removed for this test. */
function setUpSource(box, tools) {
    const rows = all("tbody > tr", box), ran = rows.filter(row => row.className);

    const onlyRan = button("Only lines that ran", "c", () => press(onlyRan, box.classList.toggle("only-ran")));
    press(onlyRan, false);
    /* Goes to the next hot line after the marked one, or after the first in view. */
    function step(by) {
        const least = Math.max(1, ...ran.map(row => heatOf(row) - 2));
        const here = find(".here", box) || firstVisible() || box;
        const hot = ran.filter(row => heatOf(row) >= least && row !== here
            && here.compareDocumentPosition(row) & (by > 0 ? 4 : 2));
        const row = hot.at(by > 0 ? 0 : -1);
        if (row) {
            row.scrollIntoView({block: "center"});
            goToRow(row);
        }
    }

    const firstVisible = () => {
        const edge = box.getBoundingClientRect();
        const under = document.elementFromPoint(edge.left + 30, Math.max(edge.top, 80) + 4);
        return under && under.closest("tbody tr");
    };

    box.addEventListener("click", event => {
        if (event.target.matches("tr[id] > th"))
            goToRow(event.target.parentElement);
    });
    minimap(box, rows, firstVisible);
    setUpColours(box);
    tools.append(onlyRan, button("▴", "k: the hot line before", () => step(-1)),
        button("▾", "j: the next hot line", () => step(1)));
    page.keys = {j: () => step(1), k: () => step(-1), c: () => onlyRan.click()};
}

/* Draws all of the source on one strip: its hot lines and the part in view. */
function minimap(box, rows, firstVisible) {
    const canvas = make("canvas", {className: "minimap", title: "hot lines: click to go", "aria-hidden": "true"});
    box.append(canvas);

    function draw() {
        const height = innerHeight - canvas.getBoundingClientRect().top - 6, width = canvas.clientWidth;
        if (!width)
            return;
        const pen = penFor(canvas, width, height), lines = shownRows(), at = lines.indexOf(firstVisible());
        if (at >= 0) {
            pen.fillStyle = colour("rule");
            pen.fillRect(0, at / lines.length * height, width, Math.max(6, innerHeight / 20 / lines.length * height));
        }
        const strokes = lines.map((row, i) => [heatOf(row), i]).filter(([heat]) => heat > 0).sort((a, b) => a[0] - b[0]);
        pen.fillStyle = colour("hot");
        for (const [heat, i] of strokes) {
            const long = width * (heat + 1) / 8;
            pen.fillRect(width - long, i / lines.length * height, long, Math.max(2, height / lines.length));
        }
    }
    const shownRows = () => box.classList.contains("only-ran") ? rows.filter(row => row.className) : rows;
    canvas.onclick = event => {
        const lines = shownRows();
        lines[Math.min(lines.length - 1, Math.floor(event.offsetY / canvas.clientHeight * lines.length))]
            .scrollIntoView({block: "center"});
    };
    addEventListener("scroll", drawnIn(box, draw), {passive: true});
}

/* Draws again when the element's size, the theme or the address changes. */
function drawnIn(element, paint) {
    const draw = later(paint);
    new ResizeObserver(draw).observe(element);
    addEventListener("resize", draw);
    redraws.push(draw);
    return draw;
}

/* Returns a function that runs `work` once before the next frame, however often called. */
function later(work) {
    let asked = false;
    return () => {
        if (asked)
            return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            work();
        });
    };
}

/* ---------------------------------------------------------------- source pages: colours */

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

/* ---------------------------------------------------------------- flame graph: trees */

/* A tree is arrays by node. Node 0 is the root; parents come before their children. */
function newTree(total) {
    const tree = {name: [], parent: [], width: [], calls: []}, children = new Map();
    tree.append = (parent, name, width, calls) => {
        tree.parent.push(parent);
        tree.width.push(width);
        tree.calls.push(calls);
        return tree.name.push(name) - 1;
    };
    /* Adds to the child of that name, and returns it. */
    tree.add = (parent, name, width, calls) => {
        const key = parent * 4194304 + name + 2, known = children.get(key), node = known || tree.append(parent, name, 0, 0);
        children.set(key, node);
        tree.width[node] += width;
        tree.calls[node] += calls;
        return node;
    };
    tree.append(-1, -2, total, 0);
    return tree;
}

/* flame.js has the frames in preorder: levels to go up, name, width, calls. */
function readTree(data) {
    const tree = newTree(data.total), path = [0];
    for (let i = 0; i < data.frames.length; i += 4) {
        const [up, ...frame] = data.frames.slice(i, i + 4);
        path.length -= i ? up : 0;
        path.push(tree.append(path.at(-1), ...frame));
    }
    return tree;
}

/* Returns the same stacks without folded frames: those become part of their caller. With
 * `collapse` a sub that calls itself is one frame. With `isMine` only stacks through such
 * names remain. */
function rewrite(tree, isFolded, collapse, isMine) {
    const n = tree.name.length, within = new Uint8Array(n), width = new Float64Array(n);
    for (let i = 1; i < n; i++)
        within[i] = within[tree.parent[i]] || isMine(tree.name[i]) ? 1 : 0;
    for (let i = n - 1; i > 0; i--) {
        if (within[i])
            width[i] = tree.width[i];
        if (!within[tree.parent[i]])
            width[tree.parent[i]] += width[i];
    }
    const all = isMine(-2), result = newTree(all ? tree.width[0] : width[0]), to = new Int32Array(n);
    for (let i = 1; i < n; i++) {
        const name = tree.name[i], up = to[tree.parent[i]], value = all ? tree.width[i] : width[i];
        if (value === 0 || isFolded(name) || (collapse && up && result.name[up] === name)) {
            to[i] = up;
        } else {
            to[i] = result.add(up, name, value, tree.calls[i]);
        }
    }
    return result;
}

/* Returns one part's widths and calls: [number minus previous number, width, calls, …]. */
function partOf(tree, list) {
    const width = tree.width.map(() => 0), calls = [...width];
    for (let i = 0, at = 0; i < list.length; i += 3) {
        at += list[i];
        width[at] = list[i + 1];
        calls[at] = list[i + 2];
    }
    return {...tree, width, calls};
}

/* Returns the same stacks without the time of subs that wait. */
function withoutWaits(tree, waits) {
    const lost = ownTimes(tree).map((own, i) => waits[tree.name[i]] ? own : 0);
    for (let i = lost.length - 1; i > 0; i--)
        lost[tree.parent[i]] += lost[i];
    return {...tree, width: tree.width.map((width, i) => width - lost[i])};
}

function ownTimes(tree) {
    const own = Float64Array.from(tree.width);
    for (let i = 1; i < own.length; i++)
        own[tree.parent[i]] -= tree.width[i];
    return own;
}

/* Adds the frames above `node` as a stack, innermost first. */
function addCallers(result, tree, node, width, calls) {
    let at = 0;
    for (let i = node; i > 0; i = tree.parent[i])
        at = result.add(at, tree.name[i], width, calls);
}

/* Returns the tree of subs with exclusive time, with their callers below. */
function invert(tree) {
    const result = newTree(tree.width[0]), own = ownTimes(tree);
    for (let i = 1; i < own.length; i++) {
        if (own[i] > 0)
            addCallers(result, tree, i, own[i], tree.calls[i]);
    }
    return result;
}

/* Returns the callees and the callers of one sub as two trees of the sub's width. */
function pivot(tree, name) {
    const n = tree.name.length, to = new Int32Array(n), below = newTree(0), above = newTree(0);
    for (let i = 1; i < n; i++) {
        const up = to[tree.parent[i]];
        if (up || tree.name[i] === name)
            to[i] = below.add(up, tree.name[i], tree.width[i], tree.calls[i]);
        if (!up && tree.name[i] === name) {
            below.width[0] = above.width[0] += tree.width[i];
            addCallers(above, tree, tree.parent[i], tree.width[i], tree.calls[i]);
        }
    }
    return {above, below};
}

/* ---------------------------------------------------------------- flame graph: places */

/* Places each node: children from their parent's left edge, widest first, small ones last.
 * `rows` has {place, nodes} for each depth, from left to right. */
function layOut(tree) {
    const n = tree.name.length, start = new Float64Array(n), end = new Float64Array(n), children = [], rows = [];
    const place = {tree, own: ownTimes(tree), start, end, rows};
    const isRest = i => tree.name[i] < 0 ? 1 : 0;
    const order = Array.from({length: n - 1}, (_, i) => i + 1);
    order.sort((a, b) => isRest(a) - isRest(b) || tree.width[b] - tree.width[a] || a - b);
    for (const i of order)
        (children[tree.parent[i]] = children[tree.parent[i]] || []).push(i);
    function below(node) {
        let x = start[node];
        for (const child of children[node] || []) {
            start[child] = x;
            end[child] = x += tree.width[child];
        }
        return children[node] || [];
    }
    end[0] = tree.width[0];
    for (let nodes = [0]; nodes.length; nodes = nodes.flatMap(below))
        rows.push({place, nodes});
    return place;
}

/* A picture has rows from top to bottom. A frame in it is {row, node}. */
function picture(tree, view) {
    if (view.pivot < 0)
        return {total: tree.width[0], middle: 0, rows: layOut(view.inverted ? invert(tree) : tree).rows};
    const {above, below} = pivot(tree, view.pivot), callers = layOut(above).rows.slice(1).reverse();
    return {total: below.width[0], middle: callers.length, rows: [...callers, ...layOut(below).rows.slice(1)]};
}

/* ---------------------------------------------------------------- flame graph: the view */

const ROW = 19, MOST_HEIGHT = 8000;
let flameData = null;
const waiting = [];

nytp.flame = data => {
    flameData = data;
    waiting.splice(0).forEach(work => work());
};

function withFlameData(section, work) {
    const inPage = find("#flame-data");
    if (!flameData && inPage)
        flameData = JSON.parse(inPage.textContent);
    if (flameData)
        work();
    else if (waiting.push(work) === 1)
        document.head.append(make("script", {src: section.dataset.src}));
}

/* Returns the colour of a package, always the same: pale in the light theme, else dark. */
function packageColour(text, isNative) {
    const key = isNative + text;
    if (!colours.has(key)) {
        let hash = 7;
        for (const letter of text)
            hash = (hash * 31 + letter.codePointAt(0)) % 100003;
        colours.set(key, `oklch(${isDark() ? 0.4 : 0.87} ${isNative ? 0.02 : 0.075} ${hash * 137 % 360})`);
    }
    return colours.get(key);
}

/* Returns as much of the name as fits: all, its last part, or the beginning of that. */
function fitting(pen, name, width) {
    const long = text => pen.measureText(text).width;
    if (width < 20)
        return "";
    if (long(name) <= width)
        return name;
    let text = name.split("::").pop();
    if (long(text) > width) {
        text = text.slice(0, Math.ceil(text.length * width / long(text)));
        while (text && long(text + "…") > width)
            text = text.slice(0, -1);
        text += "…";
    }
    return text.length > 2 ? text : "";
}

/* Waiting is hidden if the reader said so, or if it is over half of all time. */
const HIDE_WAITING = ["Hide waiting", "for input, locks, children, time"];
const hidesWaiting = (idle, whole) => !!+(settings().get("work") || idle * 2 > whole);

/* The line about the frame under the pointer. */
const newDetail = () => make("div", {className: "detail", role: "status"});

/* Prepares a canvas in pixels of the screen and returns its context. */
function penFor(canvas, width, height) {
    const scale = devicePixelRatio || 1, pen = canvas.getContext("2d");
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = height + "px";
    pen.scale(scale, scale);
    pen.font = "12px " + getComputedStyle(html).fontFamily;
    pen.textBaseline = "middle";
    return pen;
}

function setUpFlame(section) {
    const draw = () => withFlameData(section, () => drawFlame(section, flameData));
    if (!section.dataset.fid || settings().get("zoom")) {
        draw();
        return;
    }
    const open = button("Show the stacks through this file", "f", () => {
        open.remove();
        draw();
    });
    find(".view", section).append(open);
}

/* Returns the first node of a row, from left to right, that ends behind x. */
function firstEndingAfter(row, x) {
    let low = 0, high = row.nodes.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (row.place.end[row.nodes[middle]] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One flame graph. `scene` is the picture; `from` and `to` are the zoom; `chosen` is the
 * keyboard's frame, `over` the mouse's. */
function drawFlame(section, data) {
    const home = page, box = find(".view", section), fid = +(section.dataset.fid || 0);
    const recorded = readTree(data), now = settings(), packages = data.names.map(name => name.slice(0, Math.max(0, name.lastIndexOf("::"))));
    const view = {pivot: data.names.indexOf(now.get("pivot")), only: now.get("only")};
    const library = new Set(data.library);
    let read, idle, tree, scene, from, to, over = null, chosen = null, found = null;
    all(".still", section).forEach(still => still.setAttribute("hidden", "")); // an SVG element has no such property

    const ns = width => time(width * data.unit_ns);
    const frameOf = (row, node) => {
        const {place} = scene.rows[row], {tree} = place;
        return {row, node, start: place.start[node], end: place.end[node], own: place.own[node],
            name: tree.name[node], width: tree.width[node], calls: tree.calls[node]};
    };
    const same = (a, b) => a && b && a.row === b.row && a.node === b.node;
    const label = frame => frame.name >= 0 ? data.names[frame.name]
        : frame.name === -1 ? `${count(frame.calls)} small frames` : "all";
    const isZoomed = () => from > 0 || to < scene.total;

    /* Chooses all stacks, or those of the chosen row: a process, a label, a package. */
    function choosePart() {
        read = data.parts[view.only] ? partOf(recorded, data.parts[view.only]) : recorded;
        const busy = withoutWaits(read, data.waits);
        idle = read.width[0] - busy.width[0];
        if (view.work)
            read = busy;
    }
    choosePart();

    /* controls */
    const canvas = make("canvas", {tabIndex: 0, role: "application", "aria-label":
        "Flame graph: arrows move, Enter zooms, Escape goes back, p: callers and callees, i: inverted"});
    const space = make("div"), graph = div("graph", canvas, space);
    const detail = newDetail(), said = make("output");
    const tip = make("div", {className: "tip", hidden: true});
    const search = field("find subs, or re:expression", "Find in the flame graph", {value: now.get("find") || "", oninput: () => {
        setting("find", search.value);
        look();
    }});
    const fold = field("fold: expression", "subs or files that become part of their callers",
        {value: kept("fold"), onchange: () => {
            kept("fold", fold.value);
            rebuild();
        }});
    const toggles = [["inverted", setting, 1, now.get("inverted"), "", "Inverted", "i: who took time, under it who called"],
        ["collapse", setting, 1, now.get("collapse"), "", "Recursion as one", "direct recursion"],
        ["library", kept, library.size, kept("library"), "", "Fold library", "modules of perl's own folders"],
        ["work", setting, idle, hidesWaiting(idle, read.width[0]), "0", ...HIDE_WAITING]
    ].filter(([, , isOf]) => isOf).map(([key, keep, , isOn, off, ...words]) => {
        view[key] = !!isOn;
        const element = button(...words, () => {
            view[key] = !view[key];
            if (view.inverted)
                view.pivot = -1;
            keep(key, view[key] ? "1" : off);
            rebuild();
        });
        return {key, element};
    });
    const whole = button("Whole graph", "Escape", () => {
        view.pivot = -1;
        view.only = null;
        rebuild();
    });
    box.append(div("bar", search, said, ...toggles.map(toggle => toggle.element), fold, whole), graph, detail, tip);
    all("[data-part]", home).forEach(row => {
        const {part} = row.dataset, element = button("Only this", "in the flame graph", () => {
            view.only = view.only === part ? null : part;
            rebuild();
            section.scrollIntoView();
        });
        row.lastElementChild.prepend(element, " ");
        toggles.push({key: part, element});
    });

    /* Shows the hottest subs of the part, if the page has that table. A class marks the other
     * tables, which are of the whole program. */
    function showTables() {
        const tables = all("[data-of]", home), own = tables.find(box => box.dataset.of === view.only);
        tables.forEach(box => box.hidden = box !== own);
        if (own && !own.isSetUp) {
            own.isSetUp = true;
            setUpTable(own.firstChild);
        }
        if (tables.length)
            tables[0].previousElementSibling.hidden = !!own;
        home.classList.toggle("part", !!view.only);
    }

    /* building */
    function rebuild() {
        choosePart();
        const inPackage = data.parts[view.only] ? "" : view.only;
        home.classList.toggle("no-waits", !!view.work);
        const folds = matcher(fold, fold.value && "re:" + fold.value);
        const isFolded = name => name >= 0 && (fold.value && folds && (folds(data.names[name]) || folds(data.hrefs[name]))
            || (view.library && library.has(data.fids[name])));
        tree = fid || fold.value || view.only || view.collapse || view.library
            ? rewrite(read, isFolded, view.collapse, name => fid ? data.fids[name] === fid : !inPackage || packages[name] === inPackage) : read;
        showTables();
        scene = picture(tree, view);
        toggles.forEach(({key, element}) => press(element, key === view.only || !!view[key]));
        setting("only", view.only || "");
        over = chosen = null;
        setting("pivot", data.names[view.pivot] || "");
        zoom(null);
        look();
    }

    /* Finds matching frames, and the time of all stacks with any, each counted once. */
    function look() {
        const matches = matcher(search), inside = new Uint8Array(tree.name.length);
        found = search.value && matches && data.names.map(matches);
        let sum = 0, frames = 0;
        for (let i = 1; found && i < inside.length; i++) {
            const isIn = inside[tree.parent[i]], isHit = found[tree.name[i]];
            inside[i] = isIn || isHit ? 1 : 0;
            sum += isHit && !isIn ? tree.width[i] : 0;
        }
        scene.rows.forEach(row => row.nodes.forEach(node => frames += found && found[row.place.tree.name[node]] ? 1 : 0));
        said.textContent = found ? `${count(frames)} frames, ${ns(sum)}, ${percent(sum, tree.width[0])}` : "";
        draw();
    }

    /* drawing */
    function fill(frame) {
        if (frame.name < 0)
            return colour("raised");
        return packageColour(packages[frame.name], data.kinds[frame.name] > 0);
    }

    function paint() {
        const tall = scene.rows.length * ROW, most = Math.round(innerHeight * 0.68), width = graph.clientWidth;
        const height = Math.min(tall, Math.max(most, graph.clientHeight), MOST_HEIGHT);
        if (!width)
            return;
        const pen = penFor(canvas, width, height), top = graph.scrollTop, perTick = width / (to - from);
        space.style.height = tall - height + "px";
        whole.hidden = !isZoomed() && view.pivot < 0 && !view.only;
        scene.rows.forEach((row, r) => {
            const y = r * ROW - top;
            for (let x = y > -ROW && y < height ? from : to; x < to;) {
                const node = row.nodes[firstEndingAfter(row, x)];
                if (node === undefined || row.place.start[node] >= to)
                    break;
                const frame = frameOf(r, node), left = Math.max(0, (frame.start - from) * perTick);
                paintFrame(pen, frame, {left, y, wide: Math.min(width, (frame.end - from) * perTick) - left});
                x = frame.end + 0.6 / perTick;
            }
        });
    }

    function paintFrame(pen, frame, {left, y, wide}) {
        const isHit = found && found[frame.name], isChosen = same(frame, chosen);
        pen.fillStyle = isHit ? colour("hit") : found ? colour("raised") : fill(frame);
        pen.fillRect(left, y, Math.max(0.6, wide - 0.6), ROW - 1);
        if (isChosen || same(frame, over)) {
            pen.strokeStyle = colour("ink");
            pen.lineWidth = isChosen ? 2 : 1;
            pen.strokeRect(left + 1, y + 1, Math.max(1, wide - 2.6), ROW - 3);
        }
        if (wide > 28) {
            pen.fillStyle = colour("ink");
            pen.fillText(fitting(pen, label(frame), wide - 8), left + 4, y + ROW / 2);
        }
    }
    const draw = drawnIn(graph, paint);

    /* Shows the text of the line below the graph at the pointer. */
    function point(event) {
        tip.hidden = !over;
        tip.textContent = all("b, span", detail).map(one => one.textContent).concat(over && data.places[over.name] || []).join("\n");
        const {clientX: x, clientY: y} = event, {offsetWidth: wide, offsetHeight: high} = tip;
        tip.style.left = Math.min(x + 14, innerWidth - wide - 8) + "px";
        tip.style.top = (y + 20 + high > innerHeight ? y - high - 10 : y + 18) + "px";
    }

    function describe() {
        const frame = over || chosen, parts = [];
        const say = text => parts.push(span(text));
        if (!frame) {
            say(`${ns(scene.total)} in all. ${view.work && idle ? "Hidden: " + ns(idle) + ". " : ""}Click or Enter zooms, Escape goes back, arrows move.`);
        } else {
            parts.push(make("b", {}, label(frame)));
            say(`${ns(frame.width)}, ${percent(frame.width, read.width[0])}`);
            if (!view.inverted && frame.row >= scene.middle)
                say(`own ${ns(frame.own)}`);
        }
        if (frame && frame.name >= 0) {
            const href = data.hrefs[frame.name], kind = ["", "xsub", "builtin", "main program", "did not return"][data.kinds[frame.name]];
            say(`${count(frame.calls)} call${frame.calls === 1 ? "" : "s"}`);
            if (kind)
                say(kind);
            if (href)
                parts.push(make("a", {href}, "source line"));
            parts.push(button("Callers and callees", "p", () => turn(frame.name)));
        }
        detail.replaceChildren(...parts);
    }

    /* moving */
    function zoom(frame) {
        [from, to] = frame ? [frame.start, frame.end] : [0, scene.total || 1];
        setting("zoom", isZoomed() ? frame.row + "." + frame.start : "");
        describe();
        draw();
    }

    function choose(frame) {
        const y = frame.row * ROW;
        chosen = frame;
        over = null;
        if (y < graph.scrollTop || y + ROW > graph.scrollTop + canvas.clientHeight)
            graph.scrollTop = y - canvas.clientHeight / 2;
        describe();
        draw();
    }

    /* Shows one sub in the middle, its callers above and its callees below. */
    function turn(name) {
        Object.assign(view, {pivot: name, inverted: false});
        setting("inverted", "");
        rebuild();
        choose(frameOf(scene.middle, scene.rows[scene.middle].nodes[0]));
        canvas.focus();
    }

    /* Goes one step back: out of the search, the zoom, the pivot. */
    function back() {
        if (isZoomed())
            zoom(null);
        else if (view.pivot >= 0 || view.only)
            whole.click();
        else if (search.value) {
            search.value = "";
            search.oninput();
        }
    }

    function nearest(row, x) {
        const line = scene.rows[row];
        return line && frameOf(row, line.nodes[Math.min(line.nodes.length - 1, firstEndingAfter(line, x))]);
    }

    function frameAt(event) {
        const line = Math.floor((event.offsetY + graph.scrollTop) / ROW), x = from + event.offsetX / canvas.clientWidth * (to - from);
        const frame = nearest(line, x);
        return frame && frame.start <= x && x < frame.end ? frame : null;
    }

    function move(rows, steps) {
        const here = chosen, nodes = here && scene.rows[here.row].nodes;
        if (!here)
            return choose(nearest(scene.middle, from));
        const next = rows ? nearest(here.row + rows, here.start)
            : frameOf(here.row, nodes[nodes.indexOf(here.node) + steps] || here.node);
        if (next && (steps || (next.start < here.end && next.end > here.start)))
            choose(next);
    }
    const keys = {ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0), ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1),
        Enter: () => chosen && zoom(chosen), Escape: back, i: () => toggles[0].element.click(),
        p: () => chosen && chosen.name >= 0 && turn(chosen.name)};
    canvas.onkeydown = event => onKeys(event, keys);
    canvas.onmousemove = canvas.onmouseleave = event => {
        const frame = event.type === "mouseleave" ? null : frameAt(event);
        if (frame !== over && !same(frame, over)) {
            over = frame;
            describe();
            draw();
        }
        point(event);
    };
    canvas.onclick = event => {
        const frame = frameAt(event);
        if (frame) {
            choose(frame);
            zoom(frame);
        }
    };
    graph.onscroll = draw;
    rebuild();
    const [row, start] = (now.get("zoom") || "-1.0").split(".").map(Number);
    if (scene.rows[row]) {
        choose(nearest(row, start));
        zoom(chosen);
    }
    home.graph = canvas;
}

/* ---------------------------------------------------------------- keys, help, start */

const HELP = [["/", "filter or find"], ["f", "flame graph"], ["j k", "next, previous hot line"], ["c", "only lines that ran"],
    ["u", "index"], ["[ ]", "previous, next file"], ["t", "theme"], ["Enter Esc", "zoom, back"],
    ["p i", "flame graph: callers and callees; inverted"]];

function help() {
    const list = make("dl");
    HELP.forEach(([keys, text]) => list.append(make("dt", {}, ...keys.split(" ").map(key => make("kbd", {}, key))), make("dd", {}, text)));
    const box = make("dialog", {"aria-labelledby": "help-h"}, make("h2", {id: "help-h"}, "Keys"), list,
        button("Close", "Escape", () => box.close()));
    box.onclose = () => box.remove();
    document.body.append(box);
    box.showModal();
}

function filterFirst() {
    const fields = all("input", page).filter(field => field.offsetParent);
    const field = fields.find(one => one.getBoundingClientRect().top > 0) || fields[0];
    if (field)
        field.select();
}

function showFlame() {
    const section = find(".flame", page);
    if (!section)
        return;
    const open = find(".view > button", section);
    if (open)
        open.click();
    section.scrollIntoView();
    withFlameData(section, () => page.graph && page.graph.focus({preventScroll: true}));
}

const follow = selector => (find(selector, page) || find(selector) || html).click();

let themeButton = null;
function nextTheme() {
    theme = NEXT_THEME[theme];
    kept("theme", theme);
    themeButton.textContent = "Theme: " + theme;
    showTheme();
}

const KEYS = {"/": filterFirst, "?": help, f: showFlame, t: nextTheme, u: () => follow("nav a"),
    "[": () => follow("a[rel=prev]"), "]": () => follow("a[rel=next]")};

function onKey(event) {
    const field = event.target.closest("input, select, textarea, dialog");
    if (field) {
        if (event.key === "Escape" && field.tagName === "INPUT")
            field.blur();
        return;
    }
    onKeys(event, {...KEYS, ...page.keys});
}

/* Sets up a page when it is first shown. */
function setUpPage(tools) {
    if (page.isSetUp)
        return;
    page.isSetUp = true;
    page.tools = make("span");
    const kind = page.dataset.page, main = {index: "files", subs: "subs", source: "subs"}[kind];
    all(".rows", page).forEach(box => find("table", box) && !box.parentElement.dataset.of && setUpTable(box, main));
    all(".source", page).forEach(box => setUpSource(box, page.tools));
    all(".flame", page).forEach(setUpFlame);
    tools.prepend(page.tools);
}

/* Returns the page in the fragment: PAGE or PAGE:ID. */
function namedPage() {
    const text = fragment();
    return pages.find(one => text === one.id || text.startsWith(one.dataset.idPrefix));
}

/* Shows that page, or the only one of a folder's document. */
function choosePage(tools) {
    page = namedPage() || page || pages[0];
    if (pages.length > 1) {
        pages.forEach(one => one === page ? one.removeAttribute("hidden") : one.setAttribute("hidden", "until-found"));
        pages.forEach(one => one.tools && (one.tools.hidden = one !== page));
    }
    setUpPage(tools);
}

/* Opens whatever hides the fragment's element and scrolls to it. */
function showTarget() {
    const target = document.getElementById(location.hash.slice(1)) || document.getElementById(fragment());
    markHere(target && target.closest(".src tr"));
    if (!target || target === page)
        return;
    for (let at = target; at; at = at.parentElement)
        if (at.tagName === "DETAILS")
            at.open = true;
    target.scrollIntoView({block: "center"});
}

function start() {
    const sections = all("section.page"), tools = find("#tools");
    pages = sections.length ? sections : all("main");
    if (!pages.length || !tools)
        return;
    choosePage(tools);
    pages.forEach(one => one.onbeforematch = () => namedPage() === one || (location.hash = one.id));
    themeButton = button("Theme: " + theme, "t", nextTheme);
    tools.append(themeButton, button("?", "keys", help));
    document.addEventListener("keydown", onKey);
    addEventListener("hashchange", () => {
        const before = page;
        choosePage(tools);
        if (page !== before)
            scrollTo(0, 0);
        redraws.forEach(work => work());
        showTarget();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
    showTarget();
}

document.addEventListener("DOMContentLoaded", start);
})();
