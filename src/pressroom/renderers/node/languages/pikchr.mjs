import { Wrong } from "../wrong.mjs";

export async function open({ load }) {
  const pikchr = await load("pikchr-js")();
  const { PLAINTEXT_ERRORS, DARK_MODE } = pikchr.flags;
  return (source, theme) => {
    const flags = PLAINTEXT_ERRORS | (theme === "dark" ? DARK_MODE : 0);
    const { svg, width, height } = pikchr.render(source, "pikchr", flags);
    if (width < 0) throw located(svg);
    if (width === 0) throw new Wrong("there is nothing to draw");
    // "initial" is 16 pixels to browsers and 12 to others.
    return svg.replace("font-size:initial", "font-size:16px").replace("<svg ", `<svg width="${width}" height="${height}" `);
  };
}

// It repeats the source up to the mistake, each line behind its number, and points at the column with a caret.
function located(report) {
  const [shown, what] = report.split(/^ERROR: /m);
  const numbered = [...shown.matchAll(/^\/\* +(\d+) \*\/ /gm)];
  const line = numbered.length ? Number(numbered.at(-1)[1]) : undefined;
  const caret = /^( *)\^/m.exec(shown.slice(shown.lastIndexOf("*/")));
  const margin = "/*    1 */  ".length;
  return new Wrong((what ?? report).trim().split("\n")[0], line, caret ? Math.max(1, caret[1].length - margin + 1) : undefined);
}
