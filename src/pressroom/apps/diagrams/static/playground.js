// Live preview: what is typed is rendered a moment later. The last one wins; one that is under way is given up.
"use strict";

const sheet = document.getElementById("sheet");
const field = (name) => sheet.elements[name];
const editor = new Editor(field("source"));
const stage = document.getElementById("stage");
const progress = document.getElementById("progress");
const languages = new Map(JSON.parse(document.getElementById("languages").textContent).map((one) => [one.name, one]));
const AFTER = 300; // milliseconds without a key

const preview = {
  timer: 0,
  under: null,
  soon(wait = AFTER) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), wait);
  },
  async now() {
    clearTimeout(this.timer);
    this.under?.abort();
    if (!sheet.dataset.preview) return;
    const trouble = unready();
    if (trouble) {
      progress.textContent = trouble;
      return;
    }
    const mine = (this.under = new AbortController());
    progress.textContent = "Rendering …";
    sheet.dataset.busy = "yes";
    try {
      const body = new URLSearchParams(new FormData(sheet));
      const answer = await fetch(sheet.dataset.preview, { method: "POST", body, signal: mine.signal });
      const text = await answer.text();
      if (mine.signal.aborted) return;
      if (answer.status === 503 || answer.status === 429) {
        const wait = Number(answer.headers.get("Retry-After")) || 1;
        progress.textContent = `Busy; trying again in ${wait} s`;
        this.soon(wait * 1000);
        return;
      }
      progress.textContent = place(text) ? "" : "This page is too old, or you are no longer logged in. Reload it.";
      delete sheet.dataset.busy;
    } catch (error) {
      if (error.name === "AbortError") return;
      progress.textContent = "The connection is lost; trying again.";
      this.soon(3000);
    }
  },
};

// What need not be asked: the server would say the same.
function unready() {
  if (!languages.has(field("language").value)) return "This language cannot be rendered here.";
  if (!field("source").value.trim()) return "Type something to see it.";
  const options = field("options").value.trim();
  try {
    if (options && Object.prototype.toString.call(JSON.parse(options)) !== "[object Object]") throw new SyntaxError("it is no object");
  } catch (error) {
    return `The options are no JSON object: ${error.message}`;
  }
  return "";
}

// Puts each part of an answer in the place of the one with the same id. Without a new picture the last good one stays, grey.
function place(text) {
  const parts = new DOMParser().parseFromString(text, "text/html");
  const verdict = parts.getElementById("verdict");
  if (!verdict) return false;
  const open = [...document.querySelectorAll("#elsewhere details[open] > summary")].map((one) => one.textContent);
  for (const id of ["verdict", "picture", "elsewhere"]) {
    const part = parts.getElementById(id);
    if (part) document.getElementById(id).replaceWith(document.adoptNode(part));
  }
  for (const details of document.querySelectorAll("#elsewhere details")) {
    details.open = open.includes(details.firstElementChild.textContent);
  }
  const isWrong = "wrong" in verdict.dataset;
  stage.classList.toggle("stale", isWrong);
  point();
  if (!isWrong) frame();
  views.get("stage").adopt();
  return true;
}

function point() {
  const { line, column } = document.getElementById("verdict").dataset;
  editor.show(line ? { line: Number(line), column: Number(column) || null } : null);
}

// A page, or a PDF where the browser can show one, is sent into the frame below.
function frame() {
  const ways = document.querySelector("#picture .framing");
  if (!ways) return;
  if (ways.dataset.way === "pdf" && !navigator.pdfViewerEnabled) {
    ways.classList.add("apart");
    return;
  }
  ways.classList.add("framed");
  sheet.requestSubmit(ways.querySelector(".unframed"));
}

// Another language has other outputs, themes, engines and examples. A sample that was not edited is replaced.
function speak(name) {
  const language = languages.get(name);
  if (!language) return;
  const isOurs = [...languages.values()].some((one) => one.samples.some(([, text]) => text === field("source").value));
  fill(field("output"), language.outputs.map((one) => [one, one]));
  fill(field("engine"), [["", "Default"], ...language.engines.map((one) => [one, one])]);
  fill(document.getElementById("example"), [["", "choose one"], ...language.samples.map(([title], index) => [index, title])]);
  field("theme").value = language.themes.includes(field("theme").value) ? field("theme").value : "";
  field("theme").parentElement.hidden = !language.themes.length;
  field("engine").parentElement.hidden = language.engines.length < 2;
  for (const button of sheet.querySelectorAll("button[name=as]")) {
    button.hidden = button.value !== "source" && !language.outputs.includes(button.value);
  }
  const draws = language.outputs.includes("svg");
  document.getElementById("saving").hidden = !draws;
  document.getElementById("nameless").hidden = draws;
  if (isOurs || !field("source").value.trim()) {
    field("options").value = "";
    editor.replace(language.samples[0][1]);
  }
}

function fill(select, pairs) {
  const before = select.value;
  select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value)));
  if (pairs.some(([value]) => value === before)) select.value = before;
}

for (const hidden of document.querySelectorAll(".scripted")) hidden.hidden = false;

sheet.addEventListener("input", (event) => {
  if (event.target === field("source") || event.target === field("options")) preview.soon();
});
sheet.addEventListener("change", (event) => {
  const { id, value } = event.target;
  if (id === "language") speak(value);
  if (id === "example") {
    if (value === "") return;
    editor.replace(languages.get(field("language").value).samples[value][1]);
  }
  if (["language", "output", "theme", "engine", "example"].includes(id)) preview.soon(0);
});
sheet.addEventListener("submit", (event) => {
  if (event.submitter && "leaves" in event.submitter.dataset) return;
  event.preventDefault();
  preview.now();
});
field("name").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  document.getElementById("save").click();
});
field("source").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    preview.now();
  }
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-goto]");
  if (!link) return;
  event.preventDefault();
  const { line, column } = link.dataset.line ? link.dataset : document.getElementById("verdict").dataset;
  editor.go({ line: Number(line), column: Number(column) || null });
});

// What came with the page need not be rendered again.
point();
frame();
if (document.getElementById("picture").dataset.kind === "none" && !document.querySelector("#verdict[data-wrong]")) preview.now();
