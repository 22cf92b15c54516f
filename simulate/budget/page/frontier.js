"use strict";
// What a point says is its label: the nearest one to the pointer, or the one in focus.
const tip = document.getElementById("tip");
const svg = document.querySelector("svg");
let shown = null;

function show(circle) {
  if (shown !== null) shown.classList.remove("on");
  shown = circle;
  tip.hidden = circle === null;
  if (circle === null) return;
  circle.classList.add("on");
  tip.replaceChildren(...circle.getAttribute("aria-label").split("; ").map((line) => {
    const div = document.createElement("div");
    div.textContent = line;
    return div;
  }));
  const at = circle.getBoundingClientRect();
  const left = at.x + 18 + tip.offsetWidth > innerWidth ? at.x - tip.offsetWidth - 10 : at.x + 18;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, Math.min(at.y + 12, innerHeight - tip.offsetHeight - 4)) + "px";
}

// nearest returns the visible point nearest to a place on the screen.
function nearest(x, y) {
  let best = null;
  let least = Infinity;
  for (const c of svg.querySelectorAll("g.curve:not([hidden]) circle")) {
    const at = c.getBoundingClientRect();
    const far = Math.hypot(at.x + at.width / 2 - x, at.y + at.height / 2 - y);
    if (far < least) [best, least] = [c, far];
  }
  return best;
}

svg.addEventListener("pointermove", (e) => show(nearest(e.clientX, e.clientY)));
svg.addEventListener("pointerleave", () => show(null));
svg.addEventListener("focusin", (e) => show(e.target));
svg.addEventListener("focusout", () => show(null));

for (const button of document.querySelectorAll("button[data-curve]")) {
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    svg.querySelector(`g[data-curve="${button.dataset.curve}"]`).toggleAttribute("hidden", !on);
    show(null);
  });
}
