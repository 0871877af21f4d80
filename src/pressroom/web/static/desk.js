// What every page does in a browser: it listens for changes, keeps times fresh and takes keys. Without it, pages still work.
"use strict";

// Listening. One stream for each page that is looked at: a browser opens only six connections to a place, so a page in the
// background gives its own back, and looks once when it is looked at again.
const live = {
  source: null,
  lost: false,
  over: false,
  address: document.body.dataset.live,
  start() {
    if (!this.address || this.source || this.over || document.hidden) return;
    this.source = new EventSource(this.from());
    this.source.addEventListener("open", () => {
      document.body.dataset.listening = "yes";
      if (this.lost) refresh();
      this.lost = false;
      say("");
    });
    this.source.addEventListener("changed", (event) => {
      this.over = event.data !== "";
      refresh();
      if (this.over) this.stop();
    });
    this.source.addEventListener("error", () => {
      document.body.dataset.listening = "no";
      this.lost = true;
      say("The connection is lost. What you see may be old; trying again.");
      if (this.source && this.source.readyState === EventSource.CLOSED) {
        this.stop();
        setTimeout(() => this.start(), 3000);
      }
    });
  },
  // With the last event that the page has seen, unless it says so itself: what came between the two is news as well.
  from() {
    const address = new URL(this.address, location.href);
    if (!address.searchParams.has("after")) address.searchParams.set("after", document.body.dataset.seen);
    return address;
  },
  stop() {
    if (this.source) this.source.close();
    this.source = null;
    delete document.body.dataset.listening;
  },
};

function refresh() {
  document.body.dispatchEvent(new CustomEvent("changed"));
}

function say(text) {
  const place = document.getElementById("connection");
  place.textContent = text;
  place.hidden = text === "";
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    live.stop();
  } else if (live.address && !live.over) {
    refresh();
    live.start();
  }
});
addEventListener("pagehide", () => live.stop());
addEventListener("pageshow", () => live.start());
live.start();

// A look that fails is as good as a lost connection; the next one that works ends it.
document.body.addEventListener("htmx:sendError", () => say("The connection is lost. What you see may be old; trying again."));
document.body.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 401 || event.detail.xhr.status === 403) say("You are no longer logged in. Reload this page.");
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful && !live.lost) say("");
});

// Times.
const STEPS = [[60, "s", 1], [3600, "min", 60], [86400, "h", 3600], [Infinity, "d", 86400]];

function since(moment, now) {
  const seconds = (now - moment) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  const [, unit, size] = STEPS.find(([limit]) => Math.abs(seconds) < limit);
  const number = Math.floor(Math.abs(seconds) / size);
  return seconds > 0 ? `${number} ${unit} ago` : `in ${number} ${unit}`;
}

setInterval(() => {
  const now = Date.now();
  for (const time of document.querySelectorAll("main time[datetime]")) {
    const text = since(Date.parse(time.dateTime), now);
    if (time.textContent !== text) time.textContent = text;
  }
}, 5000);

// Keys.
let before = "";

function step(by) {
  const rows = [...document.querySelectorAll("main [data-row]")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  (next.querySelector("a.id, a") || next).focus();
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) {
    if (typing && event.key === "Escape") event.target.blur();
    return;
  }
  const places = { o: "/desk", j: "/desk/jobs", f: "/desk/failures", q: "/desk/queues", w: "/desk/workers", p: "/playground" };
  if (before === "g" && places[event.key]) {
    const home = document.querySelector("a.brand"); // is at /desk, behind the prefix of this service
    if (home) location.assign(home.pathname.slice(0, -"/desk".length) + places[event.key]);
  } else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("find")?.focus();
  } else if (event.key === "?") {
    document.getElementById("keys")?.showModal();
  } else if (event.key === "j" && before !== "g") {
    step(1);
  } else if (event.key === "k") {
    step(-1);
  }
  before = event.key;
});

// Buttons that copy what their `data-copy` names. The clipboard needs HTTPS; where it is not to be had, the text is selected.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  const text = "value" in from ? from.value : from.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(from);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected: press Ctrl+C";
  }
});

// What cannot be undone is asked twice where there is a script to ask; the server does not rely on it.
document.addEventListener("submit", (event) => {
  const words = event.submitter?.dataset.confirm;
  if (words && !confirm(words)) event.preventDefault();
});
