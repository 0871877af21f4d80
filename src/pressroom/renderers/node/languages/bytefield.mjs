import { readFileSync } from "node:fs";
import { createContext, Script } from "node:vm";
import { Wrong } from "../wrong.mjs";

// A source is a program, in a Clojure whose `aset` and `String/constructor` reach the JavaScript below it. So every source
// gets a realm of its own, where no code can be made from strings and which is thrown away: what it breaks, it breaks for
// itself.
export function open({ path }) {
  const library = readFileSync(path("bytefield-svg"), "utf8");
  const script = new Script(`(() => { const module = { exports: {} }, exports = module.exports; ${library}
    return (source) => {
      try {
        return JSON.stringify({ svg: module.exports(source, { embedded: false }) });
      } catch (error) {
        return JSON.stringify({ message: String(error && error.message) });
      }
    };
  })()`);
  return (source) => {
    const realm = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
    const told = script.runInContext(realm)(source);
    const { svg, message } = JSON.parse(String(told));
    if (svg === undefined) throw located(message);
    return svg;
  };
}

function located(message) {
  const [, what, line, column] = /^(.*?)(?: \[at line (\d*), column (\d*)\])?$/s.exec(message);
  return new Wrong(what, line ? Number(line) : undefined, column ? Number(column) : undefined);
}
