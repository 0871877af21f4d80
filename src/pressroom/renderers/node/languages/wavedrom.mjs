import { scoped } from "../scope.mjs";
import { Wrong } from "../wrong.mjs";

const SKINS = ["default", "narrow", "dark", "lowkey", "narrower", "narrowerer"];
const DEPTH = 64;
const PAPER = /<rect [^>]*style="stroke:none;fill:white"\/>/; // it would hide the dark skin, and is not for it to choose

// WaveDrom in a browser evals its source. Here the source is JSON5, and data only.
export function open({ load }) {
  const JSON5 = load("json5");
  const { renderAny, onml } = load("wavedrom");
  const skins = Object.assign({}, ...SKINS.map((skin) => load(`wavedrom/skins/${skin}.js`)));
  return (source, theme) => {
    const wanted = parsed(JSON5, source);
    if (wanted.config?.skin !== undefined && !SKINS.includes(wanted.config.skin)) {
      throw new Wrong(`there is no skin ${JSON.stringify(wanted.config.skin)}; choose one of: ${SKINS.join(", ")}`);
    }
    if (theme === "dark") wanted.config = { skin: "dark", ...wanted.config };
    const svg = onml.stringify(trimmed(renderAny(0, wanted, skins))).replace(PAPER, "");
    return scoped(theme === "dark" ? darkened(svg) : svg, `wavedrom-${wanted.config?.skin ?? "default"}`);
  };
}

// The dark skin forgets the arrows and their labels, which stay blue and white.
function darkened(svg) {
  return svg.replaceAll('style="fill:#FFF;"', 'style="fill:#0f1419;"').replaceAll("stroke:#0041c4", "stroke:#6ea8fe").replaceAll("fill:#0041c4", "fill:#6ea8fe");
}

// A skin defines some 150 bricks, and a picture uses a dozen of them.
function trimmed(tree) {
  const used = new Set(JSON.stringify(tree).match(/(?<=href":"#)[^"]*/g));
  const keep = (brick) => !Array.isArray(brick) || brick[0] !== "g" || used.has(brick[1].id);
  return tree.map((part) => (Array.isArray(part) && part[0] === "defs" ? part.filter(keep) : part));
}

function parsed(JSON5, source) {
  let value;
  try {
    value = JSON5.parse(source);
  } catch (error) {
    if (error.lineNumber === undefined) throw error;
    throw new Wrong(error.message.replace(/^JSON5: | at \d+:\d+$/g, ""), error.lineNumber, error.columnNumber);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Wrong('a WaveDrom source is an object with "signal", "assign" or "reg"', 1);
  }
  if (!["signal", "assign", "reg"].some((part) => Array.isArray(value[part]) && value[part].length)) {
    throw new Wrong('there is nothing to draw: give a list as "signal", "assign" or "reg"', 1);
  }
  check(value, DEPTH);
  return value;
}

function check(value, depth) {
  if (value === null || typeof value !== "object") return;
  if (depth === 0) throw new Wrong(`nested more than ${DEPTH} deep`);
  for (const key of Object.keys(value)) {
    if (["__proto__", "constructor", "prototype"].includes(key)) throw new Wrong(`${key} is not a name that a source may use`);
    check(value[key], depth - 1);
  }
}
