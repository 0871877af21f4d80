// A text area becomes an editor: numbers beside its lines, a mark where something is wrong, and a Tab key that indents.
"use strict";

class Editor {
  constructor(area) {
    this.area = area;
    this.lines = 0;
    this.wrong = null;
    this.leaving = false;
    this.build();
    area.addEventListener("input", () => this.count());
    area.addEventListener("scroll", () => this.follow());
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("blur", () => { this.leaving = false; });
    this.count();
  }

  build() {
    const frame = this.area.parentElement;
    this.gutter = make("div", "gutter");
    this.gutter.setAttribute("aria-hidden", "true");
    this.numbers = make("div", "numbers");
    this.flag = make("div", "flag");
    this.gutter.append(this.numbers, this.flag);
    this.pane = make("div", "pane");
    this.mark = make("div", "mark");
    this.line = make("div", "line");
    this.column = make("div", "column");
    this.mark.append(this.line, this.column);
    frame.append(this.gutter, this.pane);
    this.pane.append(this.mark, this.area);
    this.flag.addEventListener("click", () => this.go());
    this.show(null);
  }

  count() {
    const lines = this.area.value.split("\n").length;
    if (lines === this.lines) return;
    this.lines = lines;
    this.numbers.textContent = Array.from({ length: lines }, (_, index) => index + 1).join("\n");
    this.follow();
  }

  follow() {
    this.gutter.scrollTop = this.area.scrollTop;
    if (!this.wrong) return;
    const { line, column } = this.wrong;
    const style = getComputedStyle(this.area);
    const row = parseFloat(style.lineHeight);
    const top = parseFloat(style.paddingTop) + (line - 1) * row;
    this.flag.style.top = `${top}px`;
    this.line.style.top = this.column.style.top = `${top - this.area.scrollTop}px`;
    this.column.hidden = !column;
    if (column) {
      const before = wide((this.area.value.split("\n")[line - 1] || "").slice(0, column - 1));
      this.column.style.left = `calc(${parseFloat(style.paddingLeft) - this.area.scrollLeft}px + ${before}ch)`;
    }
  }

  // Where something is wrong, as { line, column }, both from 1; or null.
  show(wrong) {
    this.wrong = wrong;
    this.flag.hidden = this.mark.hidden = !wrong;
    if (wrong) this.flag.textContent = `✕ ${wrong.line}`;
    this.follow();
  }

  go(to = this.wrong) {
    if (!to) return;
    const lines = this.area.value.split("\n");
    const line = Math.min(to.line, lines.length);
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const at = start + Math.min((to.column || 1) - 1, lines[line - 1].length);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    const row = parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, line * row - this.area.clientHeight / 2);
  }

  // Escape lets the next Tab leave, so that keyboard users can leave the editor.
  key(event) {
    if (event.key === "Escape") {
      this.leaving = true;
      event.stopPropagation();
    } else if (event.key === "Tab" && !event.shiftKey && !this.leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.insert("  ");
    } else if (event.key === "F8") {
      event.preventDefault();
      this.go();
    } else if (event.key !== "Tab" && event.key !== "Shift") {
      this.leaving = false;
    }
  }

  // The old command is the only way that leaves undo as it was.
  insert(text) {
    if (document.execCommand("insertText", false, text)) return;
    this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  replace(text) {
    this.area.value = text;
    this.area.scrollTop = 0;
    this.show(null);
    this.count();
  }
}

function make(name, kind) {
  const element = document.createElement(name);
  element.className = kind;
  return element;
}

// Columns that a text takes, with tabs of two.
function wide(text) {
  return [...text].reduce((sum, letter) => sum + (letter === "\t" ? 2 - (sum % 2) : 1), 0);
}
