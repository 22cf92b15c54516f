// Package job names what the cluster works on: what was submitted, what has
// happened since, and what a job's agent reports.
package job

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// ID names a job, uniquely in its run.
type ID string

// Class groups jobs that share a speedup function and profiles.
type Class string

// Adaptivity says what a scheduler may choose for a job. Its zero value is a
// rigid job: GPU count, GPU type and batch size as submitted.
type Adaptivity uint8

// What may be adapted.
const (
	GPUCount Adaptivity = 1 << iota
	AnyGPUType
	BatchSizes
	Heterogeneous // may run on GPUs of two types at once (Lyra §2.1)
)

// The common kinds of job (Sia §3.3.4, "limited adaptivity").
const (
	Rigid         = AnyGPUType            // fixed batch size and GPU count
	StrongScaling = GPUCount | AnyGPUType // fixed batch size
	Adaptive      = GPUCount | AnyGPUType | BatchSizes
)

// Has reports whether all of what is adaptable.
func (a Adaptivity) Has(what Adaptivity) bool { return a&what == what }

// BatchLimits bounds the batch sizes a job may train with, in samples.
type BatchLimits struct {
	Init     int                     // total, B0: statistical efficiency is 1 here
	Max      int                     // total, max_bsz
	LocalMin int                     // per replica and pass; 0 means 1
	LocalMax map[cluster.GPUType]int // per replica and pass: what fits into GPU memory; a missing type is not limited
}

// A BatchSize is how a replica cuts its share of a batch: Accumulation passes
// without and one pass with gradient synchronisation, Local samples each. The
// zero value leaves the choice to the job's agent.
type BatchSize struct {
	Local        int // samples per replica and pass
	Accumulation int // passes before the synchronising one
}

// PerReplica returns the samples one replica processes in one optimiser step.
func (b BatchSize) PerReplica() int { return b.Local * (b.Accumulation + 1) }

// An Input is what is known of a job's input data before it runs, per GPU: a
// cache that keeps a fixed part of the dataset has a hit rate, and so a speed,
// that can be computed. The zero value is a job of which nothing is known.
// Source: Synergy §3.1 (MinIO).
type Input struct {
	Working int64   // host bytes without which the job does not run
	Dataset int64   // host bytes beyond Working that cache all data; 0: reading it costs nothing
	Storage float64 // samples per second that storage alone delivers, nothing cached
}

// A Goal says what a job's goodput is.
type Goal uint8

// The goals (Sia §3.3.4, "scheduling other workload types").
const (
	Training       Goal = iota // throughput times statistical efficiency
	BatchInference             // throughput
	LatencyBound               // 1 where a pass meets Spec.Latency, else 0
)

// A Spec is what was submitted. It never changes.
type Spec struct {
	ID          ID
	Name        string
	User, Queue string
	Class       Class   // empty: a class of its own
	Weight      float64 // share; 1 if unset. Read by policy/oxgang, gavel, shockwave and synergy only
	Priority    float64 // among jobs that wait, larger first; 0 if unset. Read by policy/queue with backfill by EASY, kueue, multifactor and oxgang only
	GPUs        int     // requested; rigid jobs get exactly this
	BatchSize   int     // requested total batch size; fixed unless BatchSizes may be adapted
	MinGPUs     int     // 0 means 1
	MaxGPUs     int     // 0 means no limit
	// GPUsPerReplica is P of hybrid-parallel jobs, which scale in units of P
	// (Sia §3.5.3); a missing type means 1. Non-nil: types not listed are not
	// eligible.
	GPUsPerReplica map[cluster.GPUType]int
	MicroBatches   int // per replica and pass of a pipeline-parallel job; 0: data parallel
	// Equivalents is how many GPUs of a type do the work of one of those that GPUs, MinGPUs
	// and MaxGPUs count: 3 of an inference server's for one of a training server's, say. A
	// missing type means 1. Source: Lyra §2.1, "we increase the number of workers"; §7.5.
	Equivalents map[cluster.GPUType]int
	// MixedSpeed is the share of its speed that is left to a heterogeneous job while it runs
	// on GPUs of two types, above 0 to 1; 0 means 1: all of it. Source: Lyra §7.1,
	// "heterogeneous training jobs only achieve at most 70% of the ideal results".
	MixedSpeed float64
	// WorkerGPUs is the GPUs of one worker, which are on one node; jobs whose count may be
	// adapted change it by workers. 0: a replica's. Source: Lyra §2.2, "each worker
	// container uses 2 GPUs".
	WorkerGPUs int
	// Resizes: workers join and leave while the others train on, at no cost. Source: Lyra
	// §2.2.
	Resizes bool
	// NoCheckpoint: a job that is preempted begins anew. Source: Lyra §4.
	NoCheckpoint bool
	GPUTypes     []cluster.GPUType // eligible; empty means any
	CPUs         float64           // asked for, per job, cores; carried along: policies share CPUs out by need
	Memory       int64             // asked for, per job, host bytes; as CPUs
	Input        Input
	Adaptivity   Adaptivity
	Batch        BatchLimits
	Schedule     BatchSchedule // how the job changes its batch size by itself
	Goal         Goal
	Latency      time.Duration // bound of a LatencyBound job
	Target       float64       // samples at Init efficiency to completion; 0: not known
	// Timed: nothing but the duration of the job is known. Target is in seconds on what it
	// asks for, where it makes one a second, and in proportion on more or fewer GPUs.
	Timed           bool
	RestartOverhead time.Duration // S_i, as the scheduler believes it
	NonPreemptive   bool
	// Reservation, if not zero, is held exactly from submission until exit.
	Reservation cluster.Configuration
}

// Min returns the least GPUs the job runs on with type t: N_i^min.
func (s *Spec) Min(t cluster.GPUType) int {
	return max(s.Equivalent(t)*max(1, s.MinGPUs), s.ReplicaGPUs(t))
}

// Most returns the most GPUs of type t that the job may be given; 0: no limit.
func (s *Spec) Most(t cluster.GPUType) int { return s.Equivalent(t) * s.MaxGPUs }

// Requested returns the GPUs of type t that the job asks for.
func (s *Spec) Requested(t cluster.GPUType) int { return s.Equivalent(t) * max(1, s.GPUs) }

// Equivalent returns how many GPUs of type t do the work of one that the job counts.
func (s *Spec) Equivalent(t cluster.GPUType) int { return max(1, s.Equivalents[t]) }

// Worth returns how many of the GPUs that the job counts do the work of those of a, of
// both types.
func (s *Spec) Worth(a *cluster.Allocation) float64 {
	one, other := s.Equivalent(a.GPUType), s.Equivalent(a.Also.GPUType)
	return float64(a.GPUs*other+a.Also.GPUs*one) / float64(one*other) // exact if it is whole
}

// Enough reports whether the GPUs of a, of both types, are no fewer than the job runs on.
func (s *Spec) Enough(a *cluster.Allocation) bool {
	return s.Worth(a) >= float64(max(1, s.MinGPUs)) && a.AllGPUs() >= s.ReplicaGPUs(a.GPUType)
}

// ReplicaGPUs returns P, the GPUs of one data-parallel replica on type t.
func (s *Spec) ReplicaGPUs(t cluster.GPUType) int {
	if s.GPUsPerReplica == nil {
		return 1
	}
	return max(1, s.GPUsPerReplica[t])
}

// Eligible reports whether the job may run on GPUs of type t.
func (s *Spec) Eligible(t cluster.GPUType) bool {
	if s.GPUsPerReplica != nil && s.GPUsPerReplica[t] == 0 {
		return false
	}
	return len(s.GPUTypes) == 0 || slices.Contains(s.GPUTypes, t)
}

// Allows reports whether the job may be given c: an eligible type, whole replicas and
// workers, no fewer workers than nodes, within its limits, and of fixed GPU count what it
// asks for, whatever these are.
func (s *Spec) Allows(c cluster.Configuration) bool {
	switch {
	case !s.Eligible(c.GPUType) || c.GPUs%s.ReplicaGPUs(c.GPUType) != 0 || c.GPUs%max(1, s.WorkerGPUs) != 0:
		return false
	case c.GPUs < c.Nodes*s.WorkerGPUs:
		return false
	case !s.Adaptivity.Has(GPUCount):
		return c.GPUs == s.Requested(c.GPUType)
	}
	return c.GPUs >= s.Min(c.GPUType) && (s.MaxGPUs == 0 || c.GPUs <= s.Most(c.GPUType))
}
