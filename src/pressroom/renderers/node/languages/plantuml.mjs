import { Element, Verbatim } from "../page.mjs";
import { Wrong, refuse } from "../wrong.mjs";

const PARTS = ["emoji.js", "openiconic.js", "themes.js"]; // what the engine fetches when a source asks for it
const OUTSIDE = /^(?!\s*').*?(!include\w*|!import|%load_json|%getenv|!theme\s.*\sfrom\s)/i;
const SIDE = 16_384;

export async function open({ importing, page, fonts }) {
  const document = page();
  Object.assign(globalThis, { document, window: globalThis, DOMParser: Unread });
  document.baseURI = "file:///";
  globalThis.PLANTUML_STDLIB_LOADER = (part, ok, fail) => {
    if (PARTS.includes(part)) importing(`@plantuml/core/${part}`).then(ok, () => fail(`${part} is missing`));
    else fail("the standard library is not installed here");
  };
  await importing("@plantuml/core/viz-global.js");
  const { render } = await importing("@plantuml/core");
  return async (source, theme) => {
    refuse(source, OUTSIDE, (word) => `${word.trim()} reads from outside of the source, which is not possible here`);
    const { lines, before } = framed(source);
    const drawn = await onto(document, fonts, (id) => render(lines, id, { dark: theme === "dark", maxSvgSize: SIDE }));
    complainAbout([...drawn.texts()], before);
    return String(drawn);
  };
}

// The lines of the one diagram, and how many lines of the source stand before them.
function framed(source) {
  const lines = source.split(/\r\n|\r|\n/);
  const starts = lines.flatMap((line, index) => (/^\s*@start\w/.test(line) ? [index] : []));
  if (starts.length > 1) throw new Wrong("a second diagram begins here; give each a source of its own", starts[1] + 1);
  if (starts.length === 1) return { lines: lines.slice(starts[0]), before: starts[0] };
  return { lines: ["@startuml", ...lines, "@enduml"], before: -1 };
}

// It draws later, into the element of that name: as a child when it could, as text when it broke.
function onto(document, fonts, start) {
  return new Promise((done, failed) => {
    const target = new Element("div", fonts);
    target.appendChild = done;
    Object.defineProperty(target, "textContent", { set: (text) => failed(broken(text)) });
    document.getElementById = (id) => (id === "drawing" ? target : null);
    start("drawing");
  });
}

function broken(report) {
  const reason = report.replace(/^(java\.[\w.]+: )+/, "");
  if (reason !== "Unsupported diagram type") return new Error(reason);
  return new Wrong("this kind of diagram is not part of PlantUML's JavaScript edition", 1);
}

// A mistake comes as a picture that says so: the place in the second text, the reason in the last.
function complainAbout([first = "", second = "", ...rest], before) {
  const place = /^\[From .*\(line (\d+)\) ?\]$/.exec(second.trim());
  if (/^PlantUML version /.test(first) && place) throw new Wrong(rest.at(-1).trim(), Number(place[1]) + before);
  if (/^Diagram not supported by this release/.test(first)) throw new Wrong(`PlantUML does not know ${rest[1]}`, before + 1);
  if (/^Your data does not sound like /.test(first)) throw new Wrong(first, before + 2);
}

class Unread {
  parseFromString(markup) {
    return { documentElement: new Verbatim(markup) };
  }
}
