// SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
//
// Lines of a Perl profile in VS Code: runs nytp-export --quickfix=0 and shows behind each line its
// share of time, its time and its hits. VS Code moves marks with their lines; when a file is opened
// and saved, each is looked for by its line's text.
"use strict";

const {execFile} = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const ROW = /^(.+?):(\d+):\d+: (([\d.]+)%, [^:]*)(?:: (.*))?$/;

let marks = new Map(); // real path -> [{line, text, label}], by line; text undefined: not known
let decoration;
const warned = new Map(); // real path -> what was said of it

const words = text => text.trim().replace(/\s+/g, " ");

function realPath(file) {
    try {
        return fs.realpathSync(file);
    } catch {
        return file;
    }
}

function readRows(text, folder, least) {
    const found = new Map();
    for (const row of text.split("\n")) {
        const [, file, line, label, share, source] = ROW.exec(row) || [];
        if (!file || Number(share) < least)
            continue;
        const at = realPath(path.resolve(folder, file));
        if (!found.has(at))
            found.set(at, []);
        found.get(at).push({line: Number(line), text: source && words(source), label});
    }
    for (const list of found.values())
        list.sort((a, b) => a.line - b.line);
    return found;
}

// Returns the line that each mark belongs to now, 0 where there is none: the line with its text, if
// this is the only one, else the one nearest to where the marks above say, within 50 lines.
function find(list, lines) {
    const at = new Map(), taken = new Set();
    lines.forEach((line, n) => {
        const text = words(line);
        at.set(text, at.get(text) || []).get(text).push(n + 1);
    });
    let shift = 0;
    return list.map(mark => {
        const due = mark.line + shift;
        const there = mark.text === undefined ? [mark.line] : at.get(mark.text) || [];
        const most = there.length === 1 ? Infinity : 50;
        const far = n => Math.abs(n - due);
        const best = there.filter(n => far(n) <= most && n <= lines.length && !taken.has(n))
            .sort((a, b) => far(a) - far(b))[0] || 0;
        taken.add(best);
        shift = best ? best - mark.line : shift;
        return best;
    });
}

function warn(file, text) {
    if (warned.get(file) !== text)
        vscode.window.showWarningMessage(`nytp: ${path.basename(file)}${text}`);
    warned.set(file, text);
}

function markEditor(editor) {
    const file = realPath(editor.document.uri.fsPath), list = marks.get(file) || [];
    const lines = editor.document.getText().split("\n"), found = find(list, lines);
    const lost = found.filter(line => !line).length, other = lost * 2 > list.length;
    editor.setDecorations(decoration, found.flatMap((line, i) => line && !other ? [{
        range: new vscode.Range(line - 1, 0, line - 1, lines[line - 1].length),
        renderOptions: {after: {contentText: "  " + list[i].label}},
    }] : []));
    if (other)
        warn(file, ` is not the file that was profiled: ${lost} of ${list.length} lines are not in it`);
    else if (lost)
        warn(file, ` has changed: ${lost} of ${list.length} lines are not in it`);
    else if (list.some(mark => mark.text === undefined))
        warn(file, ": the profile has no source of it, its marks are by line number");
}

const markAll = () => vscode.window.visibleTextEditors.forEach(markEditor);

function clear() {
    marks = new Map();
    warned.clear();
    markAll();
}

async function load() {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath || process.cwd();
    const profile = await vscode.window.showInputBox({prompt: "Profile", value: "nytprof.out"});
    if (profile === undefined)
        return;
    const settings = vscode.workspace.getConfiguration("nytp");
    const options = ["--quickfix=0", ...settings.get("arguments"), "--", profile];
    await new Promise(done => execFile(settings.get("command"), options, {cwd: folder, maxBuffer: 1 << 28},
        (error, rows, said) => {
            if (said || error)
                vscode.window.showWarningMessage("nytp: " + (said.trim() || error.message));
            if (!error || rows) {
                clear();
                marks = readRows(rows, folder, settings.get("least"));
                markAll();
            }
            done();
        }));
}

function activate(context) {
    decoration = vscode.window.createTextEditorDecorationType({
        after: {color: new vscode.ThemeColor("editorCodeLens.foreground")},
    });
    context.subscriptions.push(
        decoration,
        vscode.commands.registerCommand("nytp.load", load),
        vscode.commands.registerCommand("nytp.clear", clear),
        vscode.window.onDidChangeVisibleTextEditors(markAll),
        vscode.workspace.onDidSaveTextDocument(markAll));
}

module.exports = {activate};
