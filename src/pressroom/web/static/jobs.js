// What is chosen stays chosen while the list is made anew, and is counted.
"use strict";

const picked = new Set();

function boxes() {
  return [...document.querySelectorAll('.jobs input[name="uid"]')];
}

function tell() {
  const here = boxes();
  const all = document.getElementById("choose-all");
  if (!all) return;
  all.closest("label").hidden = false;
  all.checked = here.length > 0 && here.every((box) => box.checked);
  all.indeterminate = !all.checked && here.some((box) => box.checked);
  const count = here.filter((box) => box.checked).length;
  const words = count ? `${count} chosen` : "";
  const place = document.getElementById("chosen");
  if (place.textContent !== words) place.textContent = words;
}

function note() {
  picked.clear();
  for (const box of boxes()) if (box.checked) picked.add(box.value);
  tell();
}

document.addEventListener("change", (event) => {
  if (event.target.id === "choose-all") for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.closest("#jobs")) note();
});

let which = "chosen";
document.body.addEventListener("htmx:beforeSwap", () => {
  which = document.getElementById("which")?.value ?? which;
});
document.body.addEventListener("htmx:afterSwap", () => {
  for (const box of boxes()) box.checked = picked.has(box.value);
  const select = document.getElementById("which");
  if (select) select.value = which;
  tell();
});
// A browser that comes back to the page, or reloads it, may fill in what was chosen before.
addEventListener("pageshow", note);
note();
