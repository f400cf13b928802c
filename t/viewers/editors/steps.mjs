// SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
// Does what the file $STEPS says in node with what VS Code's extension uses of its API, and writes what
// was seen to $SEEN. Moving marks with edits is VS Code's part ("live" is not seen).
import fs from "node:fs";
import Module, {createRequire} from "node:module";
import path from "node:path";

const plugin = path.join(process.env.PLUGINS, "vscode");
const manifest = JSON.parse(fs.readFileSync(path.join(plugin, "package.json"), "utf8"));
const defaults = manifest.contributes.configuration.properties;
const commands = {}, events = {}, said = [], seen = [];
let profile, editor;
const on = name => listener => (events[name] = listener, {});
const vscode = {
    Range: class { constructor(line) { this.line = line + 1; } },
    ThemeColor: class { },
    commands: {registerCommand: (name, run) => (commands[name] = run, {})},
    window: {
        createTextEditorDecorationType: () => ({}),
        get visibleTextEditors() { return editor ? [editor] : []; },
        onDidChangeVisibleTextEditors: on("visible"),
        showInputBox: async () => profile,
        showWarningMessage: text => said.push(text),
    },
    workspace: {
        workspaceFolders: [{uri: {fsPath: process.cwd()}}],
        getConfiguration: () => ({get: key => key === "command" ? process.env.NYTP_EXPORT : defaults["nytp." + key].default}),
        onDidSaveTextDocument: on("save"),
    },
};
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : load(name, ...rest);
createRequire(import.meta.url)(path.join(plugin, manifest.main)).activate({subscriptions: []});

const read = file => fs.readFileSync(file, "utf8").replace(/\n$/, "").split("\n");
const steps = {
    open(file) {
        editor = {
            lines: read(file), marks: [],
            document: {uri: {fsPath: path.resolve(file)}, getText: () => editor.lines.join("\n") + "\n"},
            setDecorations(_, list) { this.marks = list.map(one => [one.range.line, one.renderOptions.after.contentText.trim()]); },
        };
        events.visible();
    },
    async load(name) { profile = name; await commands["nytp.load"](); },
    clear: () => commands["nytp.clear"](),
    insert: text => editor.lines.unshift(text),
    delete: line => editor.lines.splice(line - 1, 1),
    save: () => events.save(),
    reload() { editor.lines = read(editor.document.uri.fsPath); events.save(); },
    marks: () => seen.push(editor.marks),
    live: () => seen.push(null),
    read(file) {
        const {regexp, file: name, line} = manifest.contributes.problemMatchers[0].pattern;
        seen.push(read(file).map(row => row.match(regexp)).filter(Boolean).map(row => [row[name], Number(row[line])]));
    },
};
for (const [name, argument] of JSON.parse(fs.readFileSync(process.env.STEPS, "utf8")))
    await steps[name](argument);
fs.writeFileSync(process.env.SEEN, JSON.stringify({seen, said}));
