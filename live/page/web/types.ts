// What the server sends: package page and package explain say what it means. Times are seconds.

export interface Holding { nodes: number; gpus: number; type: string; also?: Holding }
export interface Expected { early: number; likely: number; late: number; open?: boolean; probability: number; held: number; of: number; unknown?: string }
export interface TypeView { queue?: string; type: string; gpus: number; free: number; starting?: number; price?: number }
export interface Node { id: string; type: string; gpus: number; held?: { job: string; gpus: number }[]; closed?: string }
export interface Job {
  id: string; name: string; queue?: string; phase: string; asked: string; submitted: number; since: number; holds?: Holding;
  reason?: string; sentence: string; restarts?: number; progress?: number; target?: number;
  start?: Expected; end?: Expected; trouble?: string;
}
export interface End { job: string; at: number; outcome: string; detail?: string }
export interface Overview {
  at: number; last: number; begun: string; policy: string; title: string; live: boolean; asks?: boolean; acts?: boolean; cancelling?: string; notes?: string[]; banner?: string;
  types: TypeView[] | null; nodes: Node[] | null; jobs: Job[] | null; ended: End[] | null;
}
export interface Change { at: number; what: string; text: string; from?: Holding; to?: Holding }
export interface Totals { waiting: number; holding: number; profiling: number; gpu_hours: number; restarts: number; lost_hours: number }
export interface Moment {
  at: number; phase: string; sentence: string; holds?: Holding; before?: Holding; unblock?: string; weight?: string;
  start?: Expected; end?: Expected; next?: string; lost_hours?: number; starts?: number;
}
export interface Story { job: string; policy: string; asked: string; moment?: Moment; changes?: Change[]; totals?: Totals; note?: string }
export interface JobPage { begun: string; life?: Story; moment?: Story }
export interface Series { begun: string; at: number[] | null; gpus: number[] | null; held: number[] | null; waiting: number[] | null; running: number[] | null }
export type Range = [number, number];
export interface Shift { job: string; starts?: Range; would_start?: Range; before?: Range; after?: Range }
export interface Answer {
  sooner: number; later: number; same: number; unknown: number; mean: number; start_sooner: number; start_later: number;
  from: string; jobs: Shift[];
}
