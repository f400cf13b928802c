// SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
//
// Reads a .cpuprofile as Chrome's DevTools do: their own data model of it and their times by line,
// from the sources in the npm package chrome-devtools-frontend, which esbuild makes one program of.
//
//     node devtools_profile.mjs NODE_FOLDER SCRATCH FILE...      one line of JSON for each file
import {createRequire} from "node:module";
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [modules, scratch, ...files] = process.argv.slice(2);
const sources = path.resolve(modules, "node_modules/chrome-devtools-frontend/front_end");
const {build} = createRequire(path.resolve(modules, "x.js"))("esbuild");

// Three parts of DevTools that the times by line only name: who shows them.
const STAND_INS = {
    bindings: "export const LiveLocation = {LiveLocationPool: class {}};",
    workspace: "export const UISourceCode = {DecoratorType: {PERFORMANCE: \"performance\"}};",
    sdk: "",
};
const standIns = {name: "stand-ins", setup(builder) {
    builder.onResolve({filter: /\/(bindings|workspace|sdk)\.js$/},
        asked => ({path: path.basename(asked.path, ".js"), namespace: "stand-in"}));
    builder.onLoad({filter: /.*/, namespace: "stand-in"}, asked => ({contents: STAND_INS[asked.path], loader: "js"}));
}};
const program = path.join(scratch, "devtools.mjs");
await build({
    stdin: {contents: `
        export {CPUProfileDataModel} from "${sources}/models/cpu_profile/CPUProfileDataModel.ts";
        export {Performance} from "${sources}/ui/legacy/components/perf_ui/LineLevelProfile.ts";`, resolveDir: scratch},
    bundle: true, platform: "node", format: "esm", outfile: program, logLevel: "error", plugins: [standIns],
});
const {CPUProfileDataModel, Performance} = await import(pathToFileURL(path.resolve(program)));

for (const file of files) {
    const model = new CPUProfileDataModel(JSON.parse(fs.readFileSync(file, "utf8")));
    const own = {}, lines = {};
    const add = (sums, key, value) => { sums[key] = (sums[key] || 0) + value; };
    const open = [model.profileHead];
    while (open.length) {
        const node = open.pop();
        open.push(...node.children);
        add(own, node.functionName, node.self);
    }
    const byLine = Performance.instance({forceNew: true});
    byLine.appendCPUProfile(model, null);
    for (const places of byLine.helper.locationData.values())
        for (const [url, found] of places)
            for (const [line, columns] of found)
                for (const time of columns.values())
                    add(lines, `${url}:${line}`, time);
    console.log(JSON.stringify({total: model.total, own, lines, samples: model.samples.length}));
}
