// To cancel a job: the page has a token for it from the first URL alone, and asks before it does it.
import { byId, el } from "./dom";

const key = "oxgang-act";

// takeToken keeps the token of the first URL, for as long as the tab is there, and removes it from the address.
export function takeToken(): void {
  if (!location.hash.startsWith("#act=")) return;
  sessionStorage.setItem(key, location.hash.slice(5));
  history.replaceState(null, "", location.pathname);
}

// cancelButton returns the button that cancels a job once its question has been answered.
export function cancelButton(id: string, what: string | undefined): HTMLElement {
  const button = el("button", { type: "button", class: "ask bad" }, "Cancel this job \u2026");
  button.addEventListener("click", () => confirm(id, what));
  return el("p", {}, button);
}

const processes = "Its processes are told to end, and are killed if they do not. What it has saved stays. This cannot be undone.";

function confirm(id: string, what: string | undefined): void {
  const dialog = byId("confirm") as HTMLDialogElement;
  byId("confirm-what").textContent = what ?? processes;
  byId("confirm-title").textContent = `Cancel ${id}?`;
  byId("confirm-said").textContent = "";
  byId("confirm-yes").hidden = false;
  byId("confirm-yes").onclick = () => void cancel(id, dialog);
  byId("confirm-no").onclick = () => dialog.close();
  dialog.showModal();
  byId("confirm-no").focus();
}

async function cancel(id: string, dialog: HTMLDialogElement): Promise<void> {
  const answer = await fetch("/api/cancel?id=" + encodeURIComponent(id), { method: "POST", headers: { Authorization: "Bearer " + (sessionStorage.getItem(key) ?? "") } });
  if (answer.ok) return dialog.close();
  byId("confirm-said").textContent = (await answer.text()).trim();
  byId("confirm-yes").hidden = true;
}
