// The server's messages, documented in packages status, page and explain. Times are seconds.

export interface Holding { nodes: number; gpus: number; type: string; also?: Holding }
export interface Expected { early: number; likely: number; late: number; open?: boolean; probability: number; held: number; of: number; unknown?: string }
export interface Range { early?: string; likely?: string; late?: string; probability?: number; source?: string; unknown?: string }
export interface GPUs { queue?: string; type: string; total: number; held: number; unusable: number; starting?: number }
export interface Queue { name: string; prices?: { type: string; price: number }[] }
export interface Node { name: string; queue?: string; type: string; gpus: number; used: number; held?: { job: string; gpus: number }[]; closed?: string; cause?: string; idle?: string; use?: Usage[] }
export interface Usage { gpu: string; job?: string; busy?: number; memory?: { used: number; total: number }; celsius?: number; watts?: number }
export interface Job {
  id: string; name: string; namespace?: string; user?: string; queue?: string; phase: string; asked?: string; min_gpus?: number; max_gpus?: number; submitted?: string; since?: string;
  gpus: number; gpu_type?: string; nodes?: { node: string; gpus: number }[]; also?: { gpus: number; gpu_type: string; nodes: number };
  reason?: string; sentence?: string; brief?: string; idle_gpu_hours?: number; unblock?: string; restarts?: number; progress?: number; target?: number;
  start?: Range; end?: Range; trouble?: string; finished?: string; outcome?: string; detail?: string;
}
export interface Overview {
  backend: string; at: string; elapsed: number; last: number; begun: string; policy: string; title: string; live: boolean; stale?: string; asks?: boolean; acts?: boolean; retries?: boolean; cancelling?: string; no_output?: string; notes?: string[]; attention?: string[]; silent_since?: string;
  queues?: Queue[]; gpus: GPUs[]; nodes: Node[]; jobs: Job[]; ended?: Job[];
}
export interface Change { at: number; what: string; text: string; from?: Holding; to?: Holding }
export interface Totals { waiting: number; holding: number; profiling: number; gpu_hours: number; restarts: number; lost_hours: number }
export interface Moment {
  at: number; phase: string; sentence: string; holds?: Holding; before?: Holding; unblock?: string; weight?: string; details?: string;
  start?: Expected; end?: Expected; next?: string; lost_hours?: number; starts?: number;
}
export interface Story { job: string; policy: string; asked: string; moment?: Moment; changes?: Change[]; totals?: Totals; note?: string }
export interface JobPage { begun: string; life?: Story; moment?: Story; job?: Job }
export interface Series { begun: string; at: number[] | null; gpus: number[] | null; held: number[] | null; waiting: number[] | null; running: number[] | null }
export type Between = [number, number];
export interface Shift { job: string; starts?: Between; would_start?: Between; before?: Between; after?: Between }
export interface Answer {
  sooner: number; later: number; same: number; unknown: number; mean: number; start_sooner: number; start_later: number;
  from: string; jobs: Shift[];
}
export interface Step { at: number; gpus: number; what: string }
export interface Track { job: string; user?: string; steps: Step[] }
export interface Timeline { begun: string; until: number; tracks: Track[]; nodes: { at: number; node: string; what: string }[]; omitted?: number }
