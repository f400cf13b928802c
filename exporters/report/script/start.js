/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Keys, help, and the start of a page.
 */
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
