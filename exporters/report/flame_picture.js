/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The script of a flame graph on its own (--flamegraph). A click widens a box to the whole
 * picture; Escape or a click on the lowest box undoes that. A field finds subs. In a
 * difference the key b shows the base's widths. No text may contain "]]" followed by ">": the
 * script is in a CDATA section.
 */
(() => {
    const SVG = "http://www.w3.org/2000/svg", CHARACTER = 7, NARROWEST = 0.05, HINT = "b: the base's widths";
    const svg = document.currentScript.ownerSVGElement;
    const wide = svg.viewBox.baseVal.width;
    const number = (element, name) => Number(element.getAttribute(name));
    const boxes = Array.from(svg.querySelectorAll("g.boxes > g"), group => {
        const rect = group.querySelector("rect"), title = group.querySelector("title").textContent;
        const base = (rect.dataset.base || "0 0").split(" ").map(Number);
        const name = title.slice(0, title.lastIndexOf(" ("));
        const colons = name.split("[")[0].lastIndexOf("::");
        return {group, rect, name: Array.from(name), packageLength: colons < 0 ? 0 : Array.from(name.slice(0, colons + 2)).length,
            y: number(rect, "y"), text: group.querySelector("text"),
            sides: [{x: number(rect, "x"), width: number(rect, "width")}, {x: base[0], width: base[1]}]};
    });
    const lowest = Math.max(...boxes.map(box => box.y));
    const found = svg.querySelector(".found"), sideText = svg.querySelector(".side");
    let side = 0, zoomed = null, wanted = null;

    const label = (box, x, width) => {
        const room = Math.floor(width / CHARACTER);
        const name = box.name.length < room ? box.name : box.name.slice(box.packageLength); /* as in flame_picture.c */
        const shown = room < 3 ? "" : name.length < room ? name.join("") : name.slice(0, room - 1).join("") + "…";
        if (!box.text && shown) {
            box.text = box.group.appendChild(document.createElementNS(SVG, "text"));
            box.text.setAttribute("y", box.y + 12);
        }
        if (box.text) {
            box.text.textContent = shown;
            box.text.setAttribute("x", x + 3);
        }
    };

    const draw = () => {
        const from = zoomed ? zoomed.sides[side].x : 0, span = zoomed ? zoomed.sides[side].width : wide;
        const scale = wide / span;
        for (const box of boxes) {
            const left = Math.max((box.sides[side].x - from) * scale, 0);
            const right = Math.min((box.sides[side].x + box.sides[side].width - from) * scale, wide);
            const seen = right - left > NARROWEST;
            box.group.style.display = seen ? "" : "none";
            if (!seen)
                continue;
            box.rect.setAttribute("x", left);
            box.rect.setAttribute("width", right - left);
            box.group.classList.toggle("outside", zoomed !== null && box.y > zoomed.y);
            label(box, left, right - left);
        }
    };

    /* Returns the share of the picture that the found boxes cover. Nested boxes count once. */
    const part = hits => {
        let end = 0, sum = 0;
        for (const {x, width} of hits.map(box => box.sides[side]).sort((a, b) => a.x - b.x)) {
            sum += Math.max(x + width - Math.max(end, x), 0);
            end = Math.max(end, x + width);
        }
        return 100 * sum / wide;
    };

    const find = () => {
        const hits = wanted ? boxes.filter(box => box.name.join("").toLowerCase().includes(wanted)) : [];
        for (const box of boxes)
            box.group.classList.toggle("hit", hits.includes(box));
        found.textContent = wanted ? `${hits.length} boxes, ${part(hits).toFixed(1)}%` : "";
    };

    const zoom = box => {
        zoomed = box && box.y < lowest && box.sides[side].width > 0 ? box : null;
        draw();
    };

    for (const box of boxes)
        box.group.addEventListener("click", () => zoom(box));

    const field = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
    field.setAttribute("type", "search");
    field.setAttribute("placeholder", "/ find   click zoom   Esc");
    field.setAttribute("aria-label", "find subs");
    field.addEventListener("input", () => {
        wanted = field.value.toLowerCase();
        find();
    });
    const place = svg.appendChild(document.createElementNS(SVG, "foreignObject"));
    for (const [name, value] of [["x", wide - 205], ["y", 3], ["width", 200], ["height", 24]])
        place.setAttribute(name, value);
    place.append(field);

    if (sideText)
        sideText.textContent = HINT;
    document.addEventListener("keydown", event => {
        if (event.key === "Escape") {
            field.value = "";
            wanted = null;
            field.blur();
            find();
            zoom(null);
        } else if (event.target === field) {
            return;
        } else if (event.key === "/") {
            event.preventDefault();
            field.focus();
        } else if (event.key === "b" && sideText) {
            side = 1 - side;
            sideText.textContent = side ? "widths of the base" : HINT;
            zoom(null);
            find();
        }
    });
})();
