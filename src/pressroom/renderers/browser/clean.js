// Reads a document with the browser's own parser, without loading any of it, and hands it back with what could leave the
// page taken out. Reading it with another parser would be guessing: what one of them takes for text, the other takes for a tag.
(source, policy, wanted) => {
  const parsed = new DOMParser().parseFromString(source, "text/html");
  // An <img name=head> would stand in for parsed.head: properties of a document are asked of its class.
  const own = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(parsed);
  const html = own("documentElement");
  const head = html.querySelector("head");
  const create = (name) => Document.prototype.createElement.call(parsed, name);
  const removed = [];

  const scrub = (root) => {
    for (const element of root.querySelectorAll("base, meta[http-equiv], portal, fencedframe")) {
      if (/^\s*refresh\s*$/i.test(element.getAttribute("http-equiv") ?? "")) {
        removed.push(/url\s*=\s*['"]?([^'"]*)/i.exec(element.content)?.[1] ?? element.content);
      }
      element.remove();
    }
    for (const element of root.querySelectorAll("iframe, frame, object, embed, applet")) {
      if (element.hasAttribute("srcdoc")) {
        element.removeAttribute("src");
        continue;
      }
      // Chromium would draw its error page in the place of a frame that it may not load.
      const address = element.getAttribute("src") ?? element.getAttribute("data");
      if (address) removed.push(address);
      element.remove();
    }
    for (const link of root.querySelectorAll("link[href]")) {
      if (/^\s*data:/i.test(link.getAttribute("href"))) continue;
      removed.push(link.getAttribute("href"));
      link.remove();
    }
    // A PDF carries its links with it, and its reader may follow any of them.
    for (const link of root.querySelectorAll("a, area")) {
      for (const name of ["href", "xlink:href"]) {
        const address = (link.getAttribute(name) ?? "").replace(/[\u0000-\u0020]/g, "");
        if (/^[a-z][a-z0-9+.-]*:/i.test(address) && !/^(https?|mailto|tel):/i.test(address)) link.removeAttribute(name);
      }
      link.removeAttribute("ping");
    }
    for (const script of wanted.scripts ? [] : root.querySelectorAll("script")) {
      if (script.hasAttribute("src")) removed.push(script.getAttribute("src"));
      script.remove();
    }
    for (const template of root.querySelectorAll("template")) scrub(template.content);
  };
  scrub(html);

  if (wanted.lang) html.lang = wanted.lang;
  let title = head.querySelector("title");
  if (!title) {
    title = create("title");
    head.append(title);
  }
  if (wanted.title) title.textContent = wanted.title;

  const csp = create("meta");
  csp.httpEquiv = "Content-Security-Policy";
  csp.content = policy;
  head.prepend(csp);

  const doctype = own("doctype");
  const pictures = [...html.querySelectorAll("img, area[href], input[type=image]")];
  return {
    html: (doctype ? new XMLSerializer().serializeToString(doctype) : "") + html.outerHTML,
    removed: removed.slice(0, 100),
    title: title.textContent.trim(),
    lang: html.lang,
    headings: html.querySelectorAll("h1, h2, h3, h4, h5, h6").length,
    withoutAlt: pictures.filter((picture) => !picture.hasAttribute("alt")).length,
  };
}
