// Package job describes a training job: its specification, its status, and the measurements that it reports.
package job

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
)

// ID is the name of a job, unique in its run.
type ID string

// Class is the name of a group of jobs that train alike, so that measurements of one help to predict another.
type Class string

// Adaptivity is the set of properties that a scheduler may choose for a job, such as its batch size and its number
// of GPUs. The zero value is a rigid job: nothing may be chosen.
type Adaptivity uint8

// The choices.
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

// Has reports whether a includes everything in what.
func (a Adaptivity) Has(what Adaptivity) bool { return a&what == what }

// BatchLimits has the smallest and largest batch sizes with which a job may train, in samples.
type BatchLimits struct {
	Init     int                     // initial batch size over all replicas, B0, at which statistical efficiency is 1
	Max      int                     // largest batch size over all replicas, max_bsz
	LocalMin int                     // smallest number of samples per replica and pass; 0 means 1
	LocalMax map[cluster.GPUType]int // most samples per replica and pass that fit into GPU memory; missing types are unlimited
}

// A BatchSize states how one replica processes its part of a batch. It makes Accumulation passes of Local samples
// without exchange of gradients, then one more pass with the exchange. The zero value lets the job decide.
type BatchSize struct {
	Local        int // samples per replica and pass
	Accumulation int // passes before the synchronising one
}

// PerReplica returns the number of samples that one replica processes in one optimiser step.
func (b BatchSize) PerReplica() int { return b.Local * (b.Accumulation + 1) }

// An Input describes the input data of a job, per GPU. It determines how much a partial cache helps. The zero value
// means unknown. Source: Synergy §3.1 (MinIO).
type Input struct {
	Working int64   // bytes of host memory that the job needs to run
	Dataset int64   // further bytes that cache all data; 0: reading costs nothing
	Storage float64 // samples per second from storage without a cache
}

// A Goal selects how a job's goodput is computed.
type Goal uint8

// The goals (Sia §3.3.4, "scheduling other workload types").
const (
	Training       Goal = iota // throughput times statistical efficiency
	BatchInference             // throughput
	LatencyBound               // 1 if a pass meets Spec.Latency, else 0
)

// A Spec is a job as its user submitted it. It is immutable.
type Spec struct {
	ID          ID
	Name        string
	User, Queue string
	Class       Class   // empty: a separate class for this job
	Weight      float64 // weight of the job; 1 if unset. Used only by policy/oxgang, gavel, shockwave and synergy
	Priority    float64 // larger goes first; 0 if unset. Used only by policy/queue with EASY backfilling, kueue, multifactor and oxgang
	GPUs        int     // requested; rigid jobs get exactly this number
	BatchSize   int     // requested total batch size; fixed unless Adaptivity has BatchSizes
	MinGPUs     int     // 0 means 1
	MaxGPUs     int     // 0 means no limit
	// GPUsPerReplica is the number of GPUs of a replica, P, of hybrid-parallel jobs, which scale by P (Sia
	// §3.5.3). Nil means 1; otherwise missing types are not eligible.
	GPUsPerReplica map[cluster.GPUType]int
	MicroBatches   int // micro-batches per replica and pass of a pipeline-parallel job; 0: data parallel
	// Equivalents is how many GPUs of a type replace one GPU of the numbers GPUs, MinGPUs and MaxGPUs; a missing type
	// means 1. Source: Lyra §2.1, "we increase the number of workers"; §7.5.
	Equivalents map[cluster.GPUType]int
	// MixedSpeed is the relative speed on GPUs of two types, in (0, 1]; 0 means 1. Source: Lyra §7.1,
	// "heterogeneous training jobs only achieve at most 70% of the ideal results".
	MixedSpeed float64
	// WorkerGPUs is the number of GPUs of a worker, all on one node; the job is resized by whole workers. 0: the
	// GPUs of a replica. Source: Lyra §2.2, "each worker container uses 2 GPUs".
	WorkerGPUs int
	// Resizes: workers can join and leave while the others train, at no cost. Source: Lyra §2.2.
	Resizes bool
	// NoCheckpoint: a preempted job starts from the beginning. Source: Lyra §4.
	NoCheckpoint bool
	GPUTypes     []cluster.GPUType // eligible types; empty means any
	Parts        []Part            // the nodes that the job may use; empty means any
	CPUs         float64           // cores requested for the whole job; information only, because policies distribute CPUs by need
	Memory       int64             // bytes requested for the whole job; information only
	Input        Input
	Adaptivity   Adaptivity
	Batch        BatchLimits
	Schedule     BatchSchedule // how the job itself changes its batch size
	Goal         Goal
	Latency      time.Duration // bound of a LatencyBound job
	Target       float64       // samples, at the efficiency of Batch.Init, until completion; 0: unknown
	// Timed: only the job's duration is known. Target is in seconds on its requested GPUs; speed is proportional
	// to GPUs.
	Timed           bool
	RestartOverhead time.Duration // estimated time of a restart, S_i
	NonPreemptive   bool
	// Reservation, if not zero, is the configuration that the job must hold from submission until it ends.
	Reservation cluster.Configuration
}

// A Part is a number of GPUs of a job that must be on certain nodes, for example the GPUs of one replicated job of a
// JobSet. A job may stay on nodes that it already holds.
type Part struct {
	GPUs  int              `json:"gpus,omitzero"` // 0: all GPUs of the job
	Nodes []cluster.NodeID `json:"nodes"`         // ascending
}

// MayUse reports whether some part of the job may run on a node.
func (s *Spec) MayUse(n cluster.NodeID) bool {
	return len(s.Parts) == 0 || slices.ContainsFunc(s.Parts, func(p Part) bool {
		_, found := slices.BinarySearch(p.Nodes, n)
		return found
	})
}

// Min returns the minimum number of GPUs of type t on which the job runs; N_i^min in Sia.
func (s *Spec) Min(t cluster.GPUType) int {
	return max(s.Equivalent(t)*max(1, s.MinGPUs), s.ReplicaGPUs(t))
}

// Most returns the maximum number of GPUs of type t that the job may get, or 0 if there is no limit.
func (s *Spec) Most(t cluster.GPUType) int { return s.Equivalent(t) * s.MaxGPUs }

// Requested returns the number of GPUs that the user requested, converted to GPUs of type t (Equivalent).
func (s *Spec) Requested(t cluster.GPUType) int { return s.Equivalent(t) * max(1, s.GPUs) }

// Equivalent returns how many GPUs of type t do as much work as one requested GPU.
func (s *Spec) Equivalent(t cluster.GPUType) int { return max(1, s.Equivalents[t]) }

// Worth returns how many GPUs of the requested kind would do as much work as allocation a, which may have GPUs of two
// types.
func (s *Spec) Worth(a *cluster.Allocation) float64 {
	one, other := s.Equivalent(a.GPUType), s.Equivalent(a.Also.GPUType)
	return float64(a.GPUs*other+a.Also.GPUs*one) / float64(one*other) // exact for whole numbers
}

// Enough reports whether allocation a, which may have GPUs of two types, has at least the job's minimum of GPUs.
func (s *Spec) Enough(a *cluster.Allocation) bool {
	return s.Worth(a) >= float64(max(1, s.MinGPUs)) && a.AllGPUs() >= s.ReplicaGPUs(a.GPUType)
}

// ReplicaGPUs returns P, the number of GPUs of one data-parallel replica on type t.
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

// Allows reports whether the job may run on configuration c: an eligible type, within its limits, whole replicas
// and workers, and at least one worker per node. A job with a fixed GPU count must get exactly this count.
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

// Remember lets m save or restore s.
func (s *Spec) Remember(m *memory.Codec) {
	m.Fields((*string)(&s.ID), &s.Name, &s.User, &s.Queue, (*string)(&s.Class), &s.Weight, &s.Priority, &s.GPUs, &s.BatchSize, &s.MinGPUs, &s.MaxGPUs,
		&s.MicroBatches, &s.MixedSpeed, &s.WorkerGPUs, &s.Resizes, &s.NoCheckpoint, &s.CPUs, &s.Memory, &s.Input, (*uint8)(&s.Adaptivity), &s.Batch,
		&s.Schedule, (*uint8)(&s.Goal), &s.Latency, &s.Target, &s.Timed, &s.RestartOverhead, &s.NonPreemptive, &s.Reservation)
	memory.Map(m, &s.GPUsPerReplica, memory.Number)
	memory.Map(m, &s.Equivalents, memory.Number)
	memory.Slice(m, &s.GPUTypes, func(t *cluster.GPUType, m *memory.Codec) { m.Fields((*string)(t)) })
	memory.Slice(m, &s.Parts, func(p *Part, m *memory.Codec) {
		m.Fields(&p.GPUs)
		memory.Slice(m, &p.Nodes, func(n *cluster.NodeID, m *memory.Codec) { m.Fields((*string)(n)) })
	})
}

// Remember lets m save or restore i.
func (i *Input) Remember(m *memory.Codec) { m.Fields(&i.Working, &i.Dataset, &i.Storage) }

// Remember lets m save or restore l.
func (l *BatchLimits) Remember(m *memory.Codec) {
	m.Fields(&l.Init, &l.Max, &l.LocalMin)
	memory.Map(m, &l.LocalMax, memory.Number)
}

// Remember lets m save or restore b.
func (b *BatchSchedule) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&b.Mode), &b.Epochs, &b.Sizes)
	memory.Slice(m, &b.Regimes, func(r *Regime, m *memory.Codec) { m.Fields(&r.BatchSize, &r.Epochs) })
}

// Remember lets m save or restore s.
func (s *Status) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&s.Phase), &s.Submitted, &s.FirstStarted, &s.Finished, &s.Since, &s.Service, &s.GPUService, &s.Restarts, &s.Progress,
		&s.Reported, &s.Epoch, &s.Batch, &s.MaxGPUs, &s.Allocation, &s.Placement)
}

// Remember lets m save or restore b.
func (b *BatchSize) Remember(m *memory.Codec) { m.Fields(&b.Local, &b.Accumulation) }
