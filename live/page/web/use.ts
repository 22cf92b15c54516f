// The measured use of GPUs.
import { percent } from "./dom";
import type { Overview, Usage } from "./types";

// busyOf returns the mean share of time in which GPUs computed; undefined if that is not known of any.
export function busyOf(use: Usage[]): number | undefined {
  const known = use.flatMap((u) => u.busy ?? []);
  return known.length > 0 ? known.reduce((sum, b) => sum + b, 0) / known.length : undefined;
}

// A GPU that computes at most this share of the time is idle, as in package gpuuse.
const idleShare = 0.05;

// isIdle reports whether a job holds a GPU that it does not use now.
export const isIdle = (u: Usage): boolean => u.job !== undefined && u.busy !== undefined && u.busy <= idleShare;

const gigabytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(0);

const memory = (u: Usage): string => (u.memory?.total ? `${gigabytes(u.memory.used)} of ${gigabytes(u.memory.total)} GiB` : "");

// described returns what is known about one GPU.
export function described(u: Usage): string {
  const known = [u.busy === undefined ? "" : percent(u.busy) + " utilised", memory(u), u.celsius ? `${u.celsius} \u00b0C` : "", u.watts ? `${u.watts} W` : ""].filter((s) => s);
  return `GPU ${u.gpu}: ${known.join(", ") || "not measured"}`;
}

// useOf describes the GPUs of a job: means, the hottest, and the sum of their power.
export function useOf(id: string, o: Overview): string | undefined {
  const use = o.nodes.flatMap((n) => (n.use ?? []).filter((u) => u.job === id)), busy = busyOf(use);
  if (use.length === 0) return undefined;
  const most = use.reduce((a, b) => ((b.memory?.used ?? 0) > (a.memory?.used ?? 0) ? b : a)), hottest = Math.max(...use.map((u) => u.celsius ?? 0)), watts = use.reduce((sum, u) => sum + (u.watts ?? 0), 0);
  return [busy === undefined ? "not measured" : percent(busy) + " utilised", memory(most) && `memory ${memory(most)}`, hottest ? `${hottest} \u00b0C` : "", watts ? `${watts} W in all` : ""].filter((s) => s).join(", ");
}

// idleOf returns the idle GPU-hours of a job, if there are any.
export function idleOf(id: string, o: Overview): string | undefined {
  const hours = [...o.jobs, ...(o.ended ?? [])].find((j) => j.id === id)?.idle_gpu_hours;
  return hours ? `${Number(hours.toPrecision(3))} GPU-hours held but not used` : undefined;
}
