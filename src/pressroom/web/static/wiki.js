// The editor shows what it would become while somebody types, and asks before a text is left behind. Without it, a button does.
"use strict";

const form = document.getElementById("editing");
const area = document.getElementById("source");
const written = area.value;
const PAUSE = 400; // milliseconds without a key
let timer = 0;
let asking = null;

async function look() {
  if (asking) asking.abort();
  asking = new AbortController();
  const fields = new URLSearchParams(new FormData(form));
  fields.set("action", "preview");
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST", body: fields, signal: asking.signal, headers: { "HX-Request": "true" },
    });
    const made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("preview");
    if (made) document.getElementById("preview").replaceWith(made);
  } catch (reason) {
    if (reason.name !== "AbortError") say("The connection is lost. Your text is still here; the preview may be old.");
  }
}

area.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE);
});
area.addEventListener("keydown", (event) => {
  if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.querySelector("button[value=save]").click();
  }
});
let sent = false;
form.addEventListener("submit", () => { sent = true; });
addEventListener("beforeunload", (event) => {
  if (!sent && area.value !== written) event.preventDefault();
});
if (area.value.trim()) look();
