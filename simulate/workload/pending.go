package workload

import (
	"reflect"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Pending is a queue of jobs that have not arrived yet. It stores values that jobs share once: about 80 bytes per job
// instead of 500.
type Pending struct {
	parts [][]pending // none is empty; consumed ones are released
	n     int
	like  []Arrival // common values
}

const inPart = 4096

type pending struct {
	at, duration time.Duration
	id           job.ID
	name         string
	target       float64
	like         int32
}

// NewPending returns a queue of the jobs in the given order. It keeps their data, but not the slice.
func NewPending(arrivals []*Arrival) *Pending {
	p := &Pending{n: len(arrivals)}
	known := make(map[likeness]int32)
	for i, a := range arrivals {
		s := &a.Spec
		k := likenessOf(a)
		n, ok := known[k]
		if !ok {
			n = int32(len(p.like))
			known[k] = n
			p.like = append(p.like, *a)
		}
		if i%inPart == 0 {
			p.parts = append(p.parts, make([]pending, 0, min(inPart, len(arrivals)-i)))
		}
		last := &p.parts[len(p.parts)-1]
		*last = append(*last, pending{a.At, a.Duration, s.ID, s.Name, s.Target, n})
	}
	return p
}

// Len returns the number of jobs in the queue.
func (p *Pending) Len() int { return p.n }

// At returns when the first job of the queue arrives; there must be one.
func (p *Pending) At() time.Duration { return p.parts[0][0].at }

// Take removes the first job of the queue, which must exist, and returns a copy.
func (p *Pending) Take() *Arrival {
	of := p.parts[0][0]
	p.n--
	if p.parts[0] = p.parts[0][1:]; len(p.parts[0]) == 0 {
		p.parts[0] = nil
		p.parts = p.parts[1:]
	}
	a := p.like[of.like]
	a.At, a.Duration = of.at, of.duration
	a.Spec.ID, a.Spec.Name, a.Spec.Target = of.id, of.name, of.target
	return &a
}

type likeness struct {
	user, queue                    string
	class                          job.Class
	weight, priority               float64
	gpus, batch, least, most       int
	perReplica, equivalents, local uintptr
	micro, worker                  int
	mixed                          float64
	resizes, noCheckpoint, timed   bool
	types                          list[cluster.GPUType]
	parts                          list[job.Part]
	cpus                           float64
	memory                         int64
	input                          job.Input
	adaptivity                     job.Adaptivity
	batchInit, batchMax, batchMin  int
	mode                           job.ScheduleMode
	epochs                         int
	sizes                          list[int]
	regimes                        list[job.Regime]
	goal                           job.Goal
	latency, restart               time.Duration
	nonPreemptive                  bool
	reservation                    cluster.Configuration

	application          string
	loss                 float64
	bound, heterogeneous bool
	cancel               time.Duration
}

type list[T any] struct {
	first *T
	n     int
}

func listOf[T any](s []T) list[T] {
	switch {
	case s == nil:
		return list[T]{n: -1}
	case len(s) == 0:
		return list[T]{}
	}
	return list[T]{&s[0], len(s)}
}

func place[K comparable, V any](m map[K]V) uintptr {
	if m == nil {
		return 0
	}
	return reflect.ValueOf(m).Pointer()
}

func likenessOf(a *Arrival) likeness {
	s := &a.Spec
	return likeness{
		user: s.User, queue: s.Queue, class: s.Class, weight: s.Weight, priority: s.Priority,
		gpus: s.GPUs, batch: s.BatchSize, least: s.MinGPUs, most: s.MaxGPUs,
		perReplica: place(s.GPUsPerReplica), equivalents: place(s.Equivalents), local: place(s.Batch.LocalMax),
		micro: s.MicroBatches, worker: s.WorkerGPUs, mixed: s.MixedSpeed,
		resizes: s.Resizes, noCheckpoint: s.NoCheckpoint, timed: s.Timed,
		types: listOf(s.GPUTypes), parts: listOf(s.Parts), cpus: s.CPUs, memory: s.Memory, input: s.Input, adaptivity: s.Adaptivity,
		batchInit: s.Batch.Init, batchMax: s.Batch.Max, batchMin: s.Batch.LocalMin,
		mode: s.Schedule.Mode, epochs: s.Schedule.Epochs, sizes: listOf(s.Schedule.Sizes), regimes: listOf(s.Schedule.Regimes),
		goal: s.Goal, latency: s.Latency, restart: s.RestartOverhead, nonPreemptive: s.NonPreemptive, reservation: s.Reservation,
		application: a.Application, loss: a.ScalingLoss, bound: a.Bound, heterogeneous: a.Heterogeneous, cancel: a.CancelAfter,
	}
}
