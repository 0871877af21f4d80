// Draws for a press, one request after another: four bytes of length and JSON in, the same out. It ends when its input does.
//
// An answer is {svg}, or {error: {message, line, column}} when the source is at fault, or {fault} when we are.

import { readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { familiar } from "./families.mjs";
import { harden, settle } from "./harden.mjs";
import { pageWith } from "./page.mjs";
import { Wrong } from "./wrong.mjs";

const [packages, fonts, limit] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const tools = {
  fonts,
  page: () => pageWith(fonts),
  load: (name) => require(name),
  importing: (name) => import(pathToFileURL(require.resolve(name))),
  path: (name) => require.resolve(name),
};
const drawers = new Map();

class Fault extends Error {}

harden();
for (let request = read(); request !== null; request = read()) write(await answer(request));
process.exit(0);

async function answer({ language, source, theme }) {
  settle();
  try {
    const draw = await drawerFor(language);
    const svg = familiar(await draw(source, theme));
    // Counted in characters: what is past the limit here is past it in bytes as well.
    return svg.length > Number(limit) ? { large: svg.length } : { svg };
  } catch (error) {
    return excuse(error);
  }
}

async function drawerFor(language) {
  if (!drawers.has(language)) drawers.set(language, await opened(language));
  return drawers.get(language);
}

async function opened(language) {
  try {
    const { open } = await import(`./languages/${language}.mjs`);
    return await open(tools);
  } catch (error) {
    throw new Fault(error.message);
  }
}

function excuse(error) {
  if (error instanceof Fault) return { fault: error.message };
  if (error instanceof Wrong) return { error: { message: brief(error.message), line: error.line, column: error.column } };
  const overrun = error instanceof WebAssembly.RuntimeError || /call stack/.test(error?.message);
  const message = overrun ? "too large, or nested too deeply" : `cannot be drawn: ${error?.message ?? error}`;
  return { error: { message: brief(message) }, shaken: true }; // the library broke, and may have been left in disorder
}

function brief(message) {
  return message.slice(0, 500).trim();
}

function read() {
  const length = take(4)?.readUInt32BE(0);
  const body = length === undefined ? null : take(length);
  return body && JSON.parse(body.toString("utf8"));
}

function take(size) {
  const bytes = Buffer.alloc(size);
  for (let filled = 0; filled < size; ) {
    const count = readSync(0, bytes, filled, size - filled, null);
    if (count === 0) return null;
    filled += count;
  }
  return bytes;
}

function write(message) {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  const frame = Buffer.alloc(body.length + 4);
  frame.writeUInt32BE(body.length, 0);
  frame.set(body, 4);
  for (let written = 0; written < frame.length; ) written += writeSync(1, frame, written);
}
