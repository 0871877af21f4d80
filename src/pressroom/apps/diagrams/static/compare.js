// Two pictures beside each other, or on top of each other.
"use strict";

const pair = document.getElementById("pair");

if (pair && pair.querySelectorAll("[data-stage]").length === 2) {
  const ways = document.getElementById("ways");
  const fade = document.getElementById("fade");
  const upper = pair.lastElementChild;
  const look = () => {
    const way = ways.querySelector("input:checked").value;
    pair.dataset.way = way;
    fade.hidden = way !== "overlay";
    upper.style.opacity = way === "overlay" ? fade.querySelector("input").value / 100 : "";
    pair.querySelector("[data-stage]").inert = way !== "beside"; // it lies below: the upper one takes the keys
    views.get("compare").refresh();
  };
  ways.hidden = false;
  ways.addEventListener("change", look);
  fade.addEventListener("input", look);
  look();
}
