// Tables with thousands of rows: only the visible rows are in the document.
import { el, fill } from "./dom";
import type { Job } from "./types";

const mostPlain = 100, spare = 12; // rows above and below the visible ones

interface Table { jobs: Job[]; draw: (j: Job) => HTMLElement; first: number; height: number }
const tables = new Map<HTMLElement, Table>();

// showRows shows a row for each job in a tbody.
export function showRows(body: HTMLElement, jobs: Job[], draw: (j: Job) => HTMLElement): void {
  const scroller = body.closest<HTMLElement>(".scroll")!;
  if (!tables.has(body)) {
    let due = false;
    scroller.addEventListener("scroll", () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => { due = false; drawRows(body, false); });
    });
  }
  scroller.classList.toggle("many", jobs.length > mostPlain);
  scroller.hidden = jobs.length === 0;
  tables.set(body, { jobs, draw, first: -1, height: rowHeight(scroller) });
  drawRows(body, true);
}

const rowHeight = (scroller: HTMLElement): number => parseFloat(getComputedStyle(scroller).getPropertyValue("--row")) || 48;

function drawRows(body: HTMLElement, changed: boolean): void {
  const t = tables.get(body)!, scroller = body.closest<HTMLElement>(".scroll")!;
  if (t.jobs.length <= mostPlain) {
    if (changed) fill(body, ...t.jobs.map(t.draw));
    return;
  }
  const first = Math.max(0, Math.floor(scroller.scrollTop / t.height) - spare), end = Math.min(t.jobs.length, first + Math.ceil((scroller.clientHeight || 600) / t.height) + 2 * spare);
  if (!changed && Math.abs(first - t.first) < spare / 2) return;
  t.first = first;
  const rows = t.jobs.slice(first, end).map(t.draw);
  rows.forEach((r, i) => r.setAttribute("aria-rowindex", String(first + i + 2)));
  body.closest("table")!.setAttribute("aria-rowcount", String(t.jobs.length + 1));
  fill(body, gap(first * t.height), ...rows, gap((t.jobs.length - end) * t.height));
}

function gap(height: number): HTMLElement {
  const cell = el("td", { colspan: "8" }), row = el("tr", { class: "gap", "aria-hidden": "true" }, cell);
  cell.style.height = `${height}px`;
  return row;
}

// reveal brings the row of a job into the document and returns its link.
export function reveal(body: HTMLElement, id: string): HTMLElement | null {
  const t = tables.get(body), i = t?.jobs.findIndex((j) => j.id === id) ?? -1, scroller = body.closest<HTMLElement>(".scroll")!;
  if (!t || i < 0) return null;
  if (t.jobs.length > mostPlain && (i * t.height < scroller.scrollTop || (i + 2) * t.height > scroller.scrollTop + scroller.clientHeight)) {
    scroller.scrollTop = Math.max(0, (i - 2) * t.height);
    drawRows(body, true);
  }
  return body.querySelector<HTMLElement>(`a[data-job="${CSS.escape(id)}"]`);
}

// listed returns the jobs of a table, in their order.
export const listed = (body: HTMLElement): string[] => tables.get(body)?.jobs.map((j) => j.id) ?? [];
