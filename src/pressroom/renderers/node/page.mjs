// As much of a browser's page as PlantUML and nomnoml need in order to draw: elements that nest, measure and write themselves.

import { measure } from "./fonts.mjs";
import { pngUrl } from "./png.mjs";

export function pageWith(fonts) {
  const canvas = () => new Canvas(fonts);
  return {
    body: new Element("body", fonts),
    head: new Element("head", fonts),
    createElement: (tag) => (tag === "canvas" ? canvas() : new Element(tag, fonts)),
    createElementNS: (_, tag) => new Element(tag, fonts),
    importNode: (node) => node,
    getElementById: () => null,
  };
}

export class Element {
  #fonts;
  #attributes = new Map();
  #children = [];
  style = {};

  constructor(tag, fonts) {
    this.tagName = tag;
    this.#fonts = fonts;
  }

  // Where a comment for other programs is asked for, such as PlantUML's copy of the source, nothing is written.
  get ownerDocument() {
    return { createProcessingInstruction: () => new Text("") };
  }

  get firstChild() {
    return this.#children[0] ?? null;
  }

  get textContent() {
    return this.#children.map((child) => child.textContent).join("");
  }

  set textContent(text) {
    this.#children = [new Text(text)];
  }

  setAttribute(name, value) {
    this.#attributes.set(name, String(value));
  }

  setAttributeNS(_, name, value) {
    this.setAttribute(name.replace(/^xlink:/, ""), value); // no prefix is declared, and none is needed any more
  }

  getAttribute(name) {
    return this.#attributes.get(name) ?? null;
  }

  appendChild(child) {
    this.#children.push(child);
    return child;
  }

  insertBefore(child, next) {
    const at = this.#children.indexOf(next);
    this.#children.splice(at < 0 ? this.#children.length : at, 0, child);
    return child;
  }

  removeChild(child) {
    this.#children = this.#children.filter((other) => other !== child);
    return child;
  }

  getBBox() {
    const size = parseFloat(this.getAttribute("font-size") ?? "12");
    const found = measure(this.#fonts, this.getAttribute("font-family") ?? "", size, false, this.textContent);
    return { x: 0, y: -found.ascent, width: found.width, height: found.ascent + found.descent };
  }

  *texts() {
    if (this.tagName === "text") yield this.textContent;
    else for (const child of this.#children) if (child instanceof Element) yield* child.texts();
  }

  toString() {
    const attributes = [...this.#attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
    return `<${this.tagName}${attributes}>${this.#children.join("")}</${this.tagName}>`;
  }
}

// A picture that came as text, such as an icon. It is not read here: what we answer is parsed and cleaned as a whole.
export class Verbatim {
  tagName = "svg";
  textContent = "";

  constructor(markup) {
    this.markup = markup.replace(/^\s*<\?xml[^>]*>/, "");
  }

  toString() {
    return this.markup;
  }
}

class Text {
  constructor(text) {
    this.textContent = String(text);
  }

  toString() {
    return escaped(this.textContent);
  }
}

class Canvas {
  width = 0;
  height = 0;
  #fonts;
  #image = null;

  constructor(fonts) {
    this.#fonts = fonts;
  }

  getContext() {
    const fonts = this.#fonts;
    return {
      font: "12px sans-serif",
      measureText(text) {
        const [, style, size, unit, family] = /^(.*?)([\d.]+)(px|pt)?\s*(.*)$/s.exec(this.font) ?? [null, "", "12", "px", ""];
        const pixels = parseFloat(size) * (unit === "pt" ? 4 / 3 : 1);
        const { width, ascent, descent } = measure(fonts, family, pixels, /bold|[6-9]00/.test(style), text);
        return {
          width,
          actualBoundingBoxAscent: ascent,
          actualBoundingBoxDescent: descent,
          fontBoundingBoxAscent: ascent,
          fontBoundingBoxDescent: descent,
        };
      },
      createImageData: (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }),
      putImageData: (image) => {
        this.#image = image;
      },
    };
  }

  toDataURL() {
    return pngUrl(this.#image);
  }
}

function escaped(text) {
  // What XML cannot say at all is left out.
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
