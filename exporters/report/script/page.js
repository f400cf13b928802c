/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The script of the HTML report: make joins these modules in one function, this one first.
 * ../README.md describes the pages. Their policy allows no inline script or style, and `file:`
 * allows no fetch. So elements are made one by one, and data comes as a script. The reader's
 * choices are in the fragment (#sort=excl&q=Foo), so that an address can be passed on.
 */
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
