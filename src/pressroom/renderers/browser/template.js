// A header or footer as Chromium's printer wants it. The printer draws it in a frame of its own, with scripts on and without our
// policy, so only plain markup gets through. Its "date" would come from the clock, and its "url" says nothing: both are ours.
(template, fields) => {
  const ALLOWED = new Set(
    "DIV SPAN P B I U STRONG EM SMALL SUB SUP BR HR IMG TABLE THEAD TBODY TR TD TH".split(" "),
  );
  const FILLED_BY_PRINTER = { page: "pageNumber", pages: "totalPages" };
  const body = new DOMParser().parseFromString(`<body>${template}`, "text/html").querySelector("body");

  const fresh = (element) => {
    const made = document.createElement(element.tagName);
    const style = element.getAttribute("style");
    // A backslash could spell url( in another way.
    if (style && !/url|image|src|\\|@|\/\*/i.test(style)) made.setAttribute("style", style);
    for (const name of ["align", "colspan", "width", "height", "alt"]) {
      if (element.hasAttribute(name)) made.setAttribute(name, element.getAttribute(name));
    }
    if (element.tagName === "IMG") {
      const source = element.getAttribute("src") ?? "";
      if (!/^data:image\/(png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i.test(source)) return null;
      made.setAttribute("src", source);
    }
    return made;
  };

  const filled = (name) => {
    const span = document.createElement("span");
    if (FILLED_BY_PRINTER[name]) span.className = FILLED_BY_PRINTER[name];
    else span.textContent = fields[name];
    return span;
  };

  const copyText = (text, into) => {
    for (const part of text.split(/(\{(?:page|pages|title|date)\})/)) {
      into.append(/^\{.*\}$/.test(part) ? filled(part.slice(1, -1)) : part);
    }
  };

  const copy = (from, into) => {
    for (const node of from.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) copyText(node.data, into);
      if (node.nodeType !== Node.ELEMENT_NODE || !ALLOWED.has(node.tagName)) continue;
      const made = fresh(node);
      if (!made) continue;
      into.append(made);
      copy(node, made);
    }
  };

  // The printer's own style sheet sets the size of the text to zero and leaves the margins to us.
  const frame = document.createElement("div");
  frame.setAttribute("style", fields.style);
  copy(body, frame);
  return frame.outerHTML;
}
