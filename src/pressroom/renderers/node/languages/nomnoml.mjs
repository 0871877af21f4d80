import { Wrong, refuse } from "../wrong.mjs";

const DARK = ["#stroke: #d5d9e0", "#fill: #2b303b; #343a46", "#background: #1b1e25"];

const DESCRIPTION = /<desc[^>]*>.*?<\/desc>/s; // a copy of the whole source, which the picture must not publish

export function open({ load, page }) {
  const { renderSvg } = load("nomnoml");
  return (source, theme) => {
    refuse(source, /^\s*(#import):/, (word) => `${word} reads a file, and there are none here: paste what it would include`);
    const before = theme === "dark" ? DARK : [];
    try {
      const svg = renderSvg([...before, source].join("\n"), page());
      if (/viewBox="0 0 0 /.test(svg)) throw new Wrong("there is nothing to draw");
      return svg.replace(DESCRIPTION, "");
    } catch (error) {
      if (error instanceof Wrong || error.line === undefined) throw error;
      const line = error.line - before.length;
      throw new Wrong(`expected ${error.expected} but got ${error.actual}`, line, error.column + 1);
    }
  };
}
