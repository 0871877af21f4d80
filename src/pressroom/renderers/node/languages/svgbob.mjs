import { scoped } from "../scope.mjs";

// Made for a font whose letters are half as wide as high; ours fit its cells of 8 pixels when they are a little smaller.
const TEXT = "font-family:Liberation Mono,monospace;font-size:13px";
const INK = { light: "black", dark: "#e3e6ea" };
const PAPER = /<rect class="backdrop"[^>]*><\/rect>/;

export async function open({ importing }) {
  const { default: bob } = await importing("bob-wasm");
  await bob.loadWASM();
  return (source, theme) => {
    const svg = bob.render(source).replace(PAPER, "");
    return scoped(svg.replace(/<style>.*?<\/style>/s, (style) => dressed(style, INK[theme])), `svgbob-${theme}`);
  };
}

function dressed(style, ink) {
  return style
    .replace(/font-family:[^;]*;font-size:[^;]*/, TEXT)
    .replace("text{", `text{fill:${ink};`)
    .replace(" rect,", " rect.solid, rect.broken,") // not the paper that others may lay behind the picture
    .replace(/(stroke|fill):black/g, `$1:${ink}`);
}
