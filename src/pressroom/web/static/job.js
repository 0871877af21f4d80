// The page of a job: what was unfolded stays so while the page renews itself, and a PDF is shown where the browser can.
"use strict";

if (window.Idiomorph) {
  window.Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !(name === "open" && node.tagName === "DETAILS");
}

function framePdfs() {
  if (!navigator.pdfViewerEnabled) return;
  for (const place of document.querySelectorAll("[data-frame]:not(:has(iframe))")) {
    const frame = document.createElement("iframe");
    frame.className = "framed";
    frame.src = place.dataset.frame;
    frame.title = place.dataset.title;
    place.prepend(frame);
  }
}

document.body.addEventListener("htmx:afterSettle", framePdfs);
framePdfs();
