// Keys: / search, j and k next and previous job, Enter opens it, ? help, Escape closes.
import { byId } from "./dom";
import { go, route } from "./route";
import { listed, reveal } from "./rows";

let opening = false; // the key that opens the search is down, and is not part of the text

export function listen(): void {
  byId("search").addEventListener("beforeinput", (e) => { if (opening && (e as InputEvent).data === "/") e.preventDefault(); });
  addEventListener("keyup", () => { opening = false; });
  addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLInputElement && e.target.type !== "range";
    if (e.ctrlKey || e.metaKey || e.altKey || (byId("confirm") as HTMLDialogElement).open || (byId("help") as HTMLDialogElement).open) return;
    if (typing && e.key !== "Escape" && e.key !== "Enter") return;
    if (act(e.key, typing)) e.preventDefault();
  });
  byId("help-open").addEventListener("click", () => (byId("help") as HTMLDialogElement).showModal());
  byId("help-close").addEventListener("click", () => (byId("help") as HTMLDialogElement).close());
}

function act(key: string, typing: boolean): boolean {
  switch (key) {
    case "/": opening = true; byId("search").focus(); return true;
    case "?": (byId("help") as HTMLDialogElement).showModal(); return true;
    case "j": step(1); return true;
    case "k": step(-1); return true;
    case "Enter": return typing && document.activeElement === byId("search") && first();
    case "Escape": return typing ? leave() : close();
  }
  return false;
}

// step moves the focus to another job of the tables.
function step(by: number): void {
  const bodies = [byId("waiting"), byId("running")], ids = bodies.map(listed), flat = ids.flat();
  if (flat.length === 0) return;
  const focused = document.activeElement, body = focused?.closest("tbody"), id = body && focused instanceof HTMLElement ? focused.dataset.job : undefined;
  const now = id === undefined ? (by > 0 ? -1 : flat.length) : flat.indexOf(id), next = Math.min(flat.length - 1, Math.max(0, now + by));
  reveal(next < ids[0].length ? bodies[0] : bodies[1], flat[next])?.focus();
}

// first opens the first job that was found.
function first(): boolean {
  const body = [byId("waiting"), byId("running")].find((b) => listed(b).length > 0);
  if (!body) return false;
  reveal(body, listed(body)[0])?.click();
  return true;
}

function leave(): boolean {
  const input = byId("search") as HTMLInputElement;
  input.value = "";
  input.dispatchEvent(new Event("input"));
  input.blur();
  return true;
}

function close(): boolean {
  if (route().kind === "") return false;
  go("#/");
  return true;
}
