import { Wrong } from "../wrong.mjs";

export function open({ load }) {
  const { run } = load("@softwaretechnik/dbml-renderer");
  return (source) => {
    const svg = drawn(run, `${source.trimEnd()}\n`); // the parser stumbles over blanks at the end
    if (!svg.includes('class="node"')) throw new Wrong("there is nothing to draw: no table and no enum");
    return svg;
  };
}

function drawn(run, source) {
  try {
    return run(source, "svg");
  } catch (error) {
    if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) throw error;
    throw located(String(error.message ?? error));
  }
}

function located(message) {
  const [, line, column, what] = /^Could not parse input at line (\d+):(\d+)\. (.*)$/s.exec(message) ?? [];
  if (line) return new Wrong(what, Number(line), Number(column));
  // Names become part of Graphviz's markup as they are.
  const [, node] = /\nin label of node (.*)/.exec(message) ?? [];
  return new Wrong(node ? `the table or enum ${node} has a name in it that reads as markup` : message);
}
