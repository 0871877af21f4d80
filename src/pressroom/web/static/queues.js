// A number being typed is not overwritten by a refresh; the list refreshes again once it is sent or undone.
"use strict";

document.body.addEventListener("htmx:beforeRequest", (event) => {
  for (const input of event.detail.elt.querySelectorAll("input[type=number]")) {
    if (input === document.activeElement || input.value !== input.defaultValue) event.preventDefault();
  }
});
