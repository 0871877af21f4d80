// The editor shows what it would become while the author types, and asks before a text is left behind. Without it, a button does.
// Where two texts are brought together there is no preview, but the text is worth as much.
"use strict";

const form = document.getElementById("editing");
const area = document.getElementById("source");
const written = area.value;
const PAUSE = 400; // milliseconds without a key
const LOST = "The connection is lost. Your text is still here; the preview may be old.";
const AWAY = "There is no preview: this page is too old, or you are no longer logged in. Keep your text before you reload.";
let timer = 0;
let asking = null;

async function look() {
  asking?.abort();
  asking = new AbortController();
  const fields = new URLSearchParams(new FormData(form));
  fields.set("action", "preview");
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST", body: fields, signal: asking.signal, headers: { "HX-Request": "true" },
    });
    const made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("preview");
    // What stays the same is left alone: pictures do not flicker, and the scroll position stays.
    if (made) Idiomorph.morph(document.getElementById("preview"), made);
    say(made ? "" : AWAY);
  } catch (reason) {
    if (reason.name !== "AbortError") say(LOST);
  }
}

area.addEventListener("keydown", (event) => {
  if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.querySelector("button[value=save]").click();
  }
});
let sent = false;
form.addEventListener("submit", () => { sent = true; });
addEventListener("pageshow", () => { sent = false; }); // after the back button, the text has not been sent
addEventListener("beforeunload", (event) => {
  if (!sent && ("unsaved" in form.dataset || area.value !== written)) event.preventDefault();
});
if (document.getElementById("preview")) {
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  });
  if (area.value.trim()) look();
}
