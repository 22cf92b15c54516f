// To cancel or retry a job needs the token of the first URL; to cancel it, also a confirmation.
import { byId, el } from "./dom";
import { go } from "./route";

const key = "oxgang-act";

// takeToken stores the token of the first URL for this tab, and removes it from the address.
export function takeToken(): void {
  if (!location.hash.startsWith("#act=")) return;
  sessionStorage.setItem(key, location.hash.slice(5));
  history.replaceState(null, "", location.pathname);
}

// cancelButton returns the button that cancels a job after confirmation.
export function cancelButton(id: string, what: string | undefined): HTMLElement {
  const button = el("button", { type: "button", class: "ask bad" }, "Cancel this job \u2026");
  button.addEventListener("click", () => confirm(id, what));
  return el("p", {}, button);
}

// retryButton returns the button that submits a failed job again, and then opens the new job.
export function retryButton(id: string): HTMLElement {
  const button = el("button", { type: "button", class: "ask", "aria-label": "Retry " + id }, "Retry");
  button.addEventListener("click", () => void retry(id, button));
  return button;
}

async function retry(id: string, button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  const answer = await post("/api/retry", id);
  if (answer.ok) return go("#/job/" + encodeURIComponent(((await answer.json()) as { job: string }).job));
  button.replaceWith(el("span", { class: "bad", role: "status" }, (await answer.text()).trim()));
}

const post = (path: string, id: string): Promise<Response> => fetch(path + "?id=" + encodeURIComponent(id), { method: "POST", headers: { Authorization: "Bearer " + (sessionStorage.getItem(key) ?? "") } });

const processes = "Its processes are asked to end, and killed if they do not. Its checkpoints stay. This cannot be undone.";

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
  const answer = await post("/api/cancel", id);
  if (answer.ok) return dialog.close();
  byId("confirm-said").textContent = (await answer.text()).trim();
  byId("confirm-yes").hidden = true;
}
