// Search by job, user or node.
import type { Job, Node } from "./types";

let words: string[] = [];

export function search(text: string): void { words = text.toLowerCase().split(/\s+/).filter((w) => w); }

const all = (text: string): boolean => words.every((w) => text.toLowerCase().includes(w));

export const matches = (j: Job): boolean => words.length === 0 || all([j.id, j.name, j.user, j.namespace, j.queue, ...(j.nodes ?? []).map((n) => n.node)].join(" "));

export const nodeMatches = (n: Node): boolean => words.length === 0 || all([n.name, n.type, n.queue, ...(n.held ?? []).map((h) => h.job)].join(" "));

export const searching = (): boolean => words.length > 0;
