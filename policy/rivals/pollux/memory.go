package pollux

import (
	"slices"
	"time"

	codec "github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

type memory struct {
	cluster *cluster.Cluster
	slots   []slot
	matrix  [][]int
	rows    []job.ID
	granted map[job.ID][]int
	changed bool // from the last round's
}

func (m *memory) on(c *cluster.Cluster) *memory {
	if m.cluster == c {
		return m
	}
	return m.probe(c)
}

func (m *memory) probe(c *cluster.Cluster) *memory {
	to := &memory{cluster: c, slots: cut(c), granted: make(map[job.ID][]int, len(m.granted)), changed: m.cluster != nil}
	from := m.sources(to)
	for id, row := range m.granted {
		to.granted[id] = carry(row, len(m.slots), from)
	}
	if len(to.slots) == 0 {
		return to
	}
	to.rows = append(to.rows, m.rows...)
	for _, x := range m.matrix {
		to.matrix = append(to.matrix, carry(x, len(m.slots), from))
	}
	return to
}

func (m *memory) sources(to *memory) []int {
	first := make(map[cluster.NodeID]int)
	for k, at := range slices.Backward(m.slots) {
		first[m.cluster.Nodes()[at.node].ID] = k
	}
	from := make([]int, len(to.slots))
	part := 0
	for k, at := range to.slots {
		old, ok := first[to.cluster.Nodes()[at.node].ID]
		if from[k] = -1; ok && m.has(old, part, at.gpus) {
			from[k] = old + part
		}
		if part++; at.last {
			part = 0
		}
	}
	return from
}

func (m *memory) has(first, part, gpus int) bool {
	k := first + part
	return k < len(m.slots) && m.slots[k].node == m.slots[first].node && m.slots[k].gpus == gpus
}

func carry(x []int, columns int, from []int) []int {
	var out []int
	for row := 0; row < len(x); row += columns {
		for _, k := range from {
			v := 0
			if k >= 0 {
				v = x[row+k]
			}
			out = append(out, v)
		}
	}
	return out
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *codec.Codec) {
	codec.Map(m, &p.beliefs, codec.To((*belief).Remember))
	codec.Pointer(m, &p.last, (*memory).Remember)
}

// Remember lets m save or restore the state that a keeps between rounds.
func (a *Autoscaler) Remember(m *codec.Codec) {
	m.Fields(a.pollux, &a.started, &a.wanted, &a.size, &a.recent)
}

func (b *belief) Remember(m *codec.Codec) {
	codec.Shared(m, &b.model)
	codec.Shared(m, &b.limits)
	m.Fields((*string)(&b.reference), &b.chosen, &b.blind, &b.lastRound)
	codec.Slice(m, &b.goodput, func(by *[]float64, m *codec.Codec) { m.Fields(by) })
}

func (m *memory) Remember(c *codec.Codec) {
	codec.Once(c, &m.cluster, (*cluster.Cluster).Remember)
	if c.Fields(&m.changed); c.Decoding() && m.cluster != nil {
		m.slots = cut(m.cluster)
	}
	codec.Slice(c, &m.matrix, numbers)
	codec.Slice(c, &m.rows, func(id *job.ID, c *codec.Codec) { c.Fields((*string)(id)) })
	codec.Map(c, &m.granted, numbers)
}

func numbers(row *[]int, m *codec.Codec) { m.Fields(row) }

type belief struct {
	model     perf.Model
	limits    *job.BatchLimits
	reference cluster.GPUType // it has the speed of all types
	chosen    bool            // reference is the first type used
	goodput   [][]float64     // by GPUs, then nodes; -1: not computed
	blind     bool            // unknown speed: proportional to GPUs
	lastRound int
}

func (b *belief) refresh(j *policy.Job, types []cluster.TypeInfo) {
	stale := b.goodput == nil || b.model != j.Perf || b.limits != j.BatchLimits()
	if !b.chosen {
		before := b.reference
		b.reference, b.chosen = firstType(j, types), j.Holding()
		stale = stale || b.reference != before
	}
	if !stale {
		return
	}
	b.model, b.limits = j.Perf, j.BatchLimits()
	b.goodput = b.goodput[:0]
	least := max(1, j.ReplicaGPUs(b.reference))
	b.blind = j.Perf == nil || goodput(j, cluster.Configuration{Nodes: 1, GPUs: least, GPUType: b.reference}) <= 0
}

func firstType(j *policy.Job, types []cluster.TypeInfo) cluster.GPUType {
	if j.Holding() {
		return j.Allocation.GPUType
	}
	for _, t := range types {
		if j.Eligible(t.Type) {
			return t.Type
		}
	}
	return ""
}

func (b *belief) at(j *policy.Job, nodes, gpus int) float64 {
	if b.blind || gpus == 0 {
		return float64(gpus)
	}
	for len(b.goodput) <= gpus {
		b.goodput = append(b.goodput, nil)
	}
	for len(b.goodput[gpus]) <= nodes {
		b.goodput[gpus] = append(b.goodput[gpus], -1)
	}
	g := &b.goodput[gpus][nodes]
	if *g < 0 {
		*g = max(0, goodput(j, cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: b.reference}))
	}
	return *g
}

// goodput returns samples per second, at B0's efficiency if batch sizes may change; for a latency-bound job 1 or
// 0. Source: Pollux §4.1.
func goodput(j *policy.Job, c cluster.Configuration) float64 {
	a, replicas := cluster.Allocation{Configuration: c}, c.GPUs/j.ReplicaGPUs(c.GPUType)
	if replicas == 0 {
		return 0
	}
	if j.Goal == job.Training && j.Adaptivity.Has(job.BatchSizes) {
		g, _ := perf.BestBatch(j.Perf, a, replicas, j.BatchLimits())
		return g
	}
	batch := j.Expected(a, job.BatchSize{})
	speed := j.Perf.Throughput(a, batch)
	if j.Goal != job.LatencyBound {
		return speed
	}
	if samples := float64(replicas * batch.PerReplica()); speed > 0 && samples/speed <= j.Latency.Seconds() {
		return 1
	}
	return 0
}

// reallocFactor returns (T − R·δ) / (T + δ), at least 0: the discount on a changing job of age T after R restarts
// of δ; 0 if T ≤ 0. Source: Pollux §4.2.
func reallocFactor(age time.Duration, restarts int, delay time.Duration) float64 {
	if age <= 0 {
		return 0
	}
	t, d := age.Seconds(), delay.Seconds()
	return max(0, t-float64(restarts)*d) / (t + d)
}
