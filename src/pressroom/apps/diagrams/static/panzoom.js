// Pictures that can be moved and magnified: by wheel with Ctrl, by dragging, by keys, by buttons. Frames that name the same
// `data-together` are looked at through one view.
"use strict";

const LEAST = 0.05;
const MOST = 20;
const STEP = 1.25;

class View {
  constructor(stages, buttons) {
    this.stages = stages;
    this.buttons = buttons;
    this.fitted = true;
    this.scale = 1;
    this.x = this.y = 0;
    this.before = null;
    for (const stage of stages) this.listen(stage);
    for (const button of buttons ? buttons.querySelectorAll("[data-zoom]") : []) {
      button.addEventListener("click", () => this.command(button.dataset.zoom));
    }
    new ResizeObserver(() => this.refresh()).observe(stages[0]);
    this.adopt();
  }

  listen(stage) {
    stage.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = stage.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !stage.classList.contains("zoomable")) return;
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("moving");
      this.before = { x: event.clientX, y: event.clientY };
      event.preventDefault();
      stage.focus({ preventScroll: true });
    });
    stage.addEventListener("pointermove", (event) => {
      if (!this.before) return;
      this.move(event.clientX - this.before.x, event.clientY - this.before.y);
      this.before = { x: event.clientX, y: event.clientY };
    });
    for (const end of ["pointerup", "pointercancel"]) {
      stage.addEventListener(end, () => {
        this.before = null;
        stage.classList.remove("moving");
      });
    }
    stage.addEventListener("keydown", (event) => {
      if (event.target !== stage || event.ctrlKey || event.altKey || event.metaKey || !this.pictures.length) return;
      const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
      const commands = { "+": "in", "=": "in", "-": "out", 0: "fit", 1: "one" };
      if (moves[event.key]) this.move(...moves[event.key]);
      else if (commands[event.key]) this.command(commands[event.key]);
      else return;
      event.preventDefault();
    });
  }

  get pictures() {
    return this.stages.map((stage) => stage.querySelector("[data-kind=picture] > img")).filter(Boolean);
  }

  // Takes the pictures as they are now: another may have come into a frame.
  adopt() {
    for (const stage of this.stages) stage.classList.toggle("zoomable", !!stage.querySelector("[data-kind=picture] > img"));
    if (this.buttons) this.buttons.hidden = !this.pictures.length;
    for (const picture of this.pictures) {
      picture.draggable = false;
      if (!picture.complete) picture.addEventListener("load", () => this.refresh(), { once: true });
    }
    this.refresh();
  }

  refresh() {
    if (this.fitted) this.fit();
    else this.apply();
  }

  command(name) {
    const { clientWidth, clientHeight } = this.stages[0];
    if (name === "fit") this.fit();
    else if (name === "one") this.zoom(1 / this.scale, clientWidth / 2, clientHeight / 2);
    else this.zoom(name === "in" ? STEP : 1 / STEP, clientWidth / 2, clientHeight / 2);
  }

  // So that every picture is seen whole, and none larger than twice its size.
  fit() {
    this.fitted = true;
    const { clientWidth, clientHeight } = this.stages[0];
    const sizes = this.pictures.map(size);
    if (!sizes.length || !clientWidth) return;
    const wide = Math.max(...sizes.map(([width]) => width));
    const tall = Math.max(...sizes.map(([, height]) => height));
    this.scale = Math.max(LEAST, Math.min(2, (clientWidth - 24) / wide, (clientHeight - 24) / tall));
    this.x = (clientWidth - wide * this.scale) / 2;
    this.y = (clientHeight - tall * this.scale) / 2;
    this.apply();
  }

  zoom(factor, x, y) {
    const scale = Math.min(MOST, Math.max(LEAST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.apply();
  }

  move(x, y) {
    this.x += x;
    this.y += y;
    this.fitted = false;
    this.apply();
  }

  // By its width and not by a scale, so that a browser draws an SVG anew and does not blow up its pixels.
  apply() {
    for (const picture of this.pictures) {
      const [width, height] = size(picture);
      picture.style.width = `${width * this.scale}px`;
      picture.style.height = `${height * this.scale}px`;
      picture.style.transform = `translate(${this.x}px, ${this.y}px)`;
    }
    const told = this.buttons?.querySelector(".zoomed");
    if (told) told.textContent = `${Math.round(this.scale * 100)}%`;
  }
}

function size(picture) {
  const told = [Number(picture.getAttribute("width")), Number(picture.getAttribute("height"))];
  return told[0] && told[1] ? told : [picture.naturalWidth || 300, picture.naturalHeight || 150];
}

const views = new Map();
for (const stage of document.querySelectorAll("[data-stage]")) {
  const name = stage.dataset.together || stage.id;
  if (views.has(name)) continue;
  const together = stage.dataset.together ? [...document.querySelectorAll(`[data-together="${name}"]`)] : [stage];
  views.set(name, new View(together, document.querySelector(`[data-zooms="${name}"]`)));
}
