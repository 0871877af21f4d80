// Every text asks first for the font that it was measured in. The PDF writer leaves out text whose font it does not find.

const MONO = "Liberation Mono";
const SANS = "Liberation Sans";
const FAMILY = /font-family(\s*[=:]\s*["']?)([^"';}<>]*)/g;

export function familiar(svg) {
  const named = svg.replace(FAMILY, (_, before, families) => `font-family${before}${first(families)}`);
  const [root] = /<svg\b[^>]*>/.exec(named) ?? [""];
  return root.includes("font-family") ? named : named.replace("<svg", `<svg font-family="${first("Arial, sans-serif")}"`);
}

function first(families) {
  if (families.includes("Liberation")) return families;
  const ours = /mono|courier|consolas/i.test(families) ? MONO : SANS;
  return `${ours}, ${families}`;
}
