// Rules such as `text {...}` or `.s1 {...}` would reach whatever else stands on the page that the picture is put into. So
// classes get names of their own, and rules for a tag are bound to the picture's root. (Classes are not: what <use> shows
// has lost its root.)

const STYLE = /(<style[^>]*>)(.*?)(<\/style>)/gs;
const RULE = /([^{}]+)(\{[^{}]*\})/g;
const CLASS = /\.([A-Za-z_][\w-]*)/g;

export function scoped(svg, name) {
  const classes = new Set();
  return svg
    .replace(STYLE, (_, open, css, close) => open + bound(css, name, classes) + close)
    .replace(/ class="([^"]*)"/g, (_, list) => ` class="${renamed(list, name, classes)}"`)
    .replace(/<svg\b[^>]*>/, (root) => withClass(root, name));
}

function bound(css, name, classes) {
  const bindAll = (selectors) => selectors.split(",").map((one) => bind(one.trim(), name, classes)).join(",");
  return css.replace(/<!--.*?-->/gs, "").replace(RULE, (_, selectors, rule) => bindAll(selectors) + rule);
}

function bind(selector, name, classes) {
  if (!selector.includes(".")) return `.${name} ${selector}`;
  return selector.replace(CLASS, (_, one) => {
    classes.add(one);
    return `.${name}-${one}`;
  });
}

function renamed(list, name, classes) {
  return list.split(" ").map((one) => (classes.has(one) ? `${name}-${one}` : one)).join(" ");
}

function withClass(root, name) {
  return root.includes(" class=") ? root.replace(' class="', ` class="${name} `) : root.replace("<svg", `<svg class="${name}"`);
}
