package policytest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// Epoch is the time at which every test cluster starts.
var Epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Clusters generates random clusters of one to three GPU types, each with up to six nodes. Some have nodes
// of different sizes, and half count CPUs and memory.
func Clusters() *rapid.Generator[*cluster.Cluster] {
	return rapid.Custom(func(t *rapid.T) *cluster.Cluster {
		sizes := rapid.SampledFrom([]int{4, 8, 2, 1, 6})
		var nodes []cluster.Node
		for _, gpu := range []cluster.GPUType{"t4", "a100", "rtx"}[:rapid.IntRange(1, 3).Draw(t, "types")] {
			size, mixed := sizes.Draw(t, "GPUs per node"), oneIn(t, 6, "mixed sizes")
			counts, uneven := rapid.Bool().Draw(t, "CPUs count"), oneIn(t, 4, "uneven CPUs")
			var cpus float64
			for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
				if mixed && i > 0 {
					size = sizes.Draw(t, "GPUs of node")
				}
				has := cluster.Resources{GPUs: size}
				if counts && (i == 0 || uneven) {
					cpus = rapid.SampledFrom([]float64{3, 2, 2.5, 6, 12}).Draw(t, "CPUs per GPU")
				}
				if counts {
					has.CPUs, has.Memory = cpus*float64(size), int64(cpus*float64(size)*20e9)
				}
				nodes = append(nodes, cluster.Node{
					ID: cluster.NodeID(fmt.Sprintf("%s-%d", gpu, i)), GPUType: gpu, GPUMemory: 16 << 30, Capacity: has,
				})
			}
		}
		c, err := cluster.New(nodes)
		if err != nil {
			t.Fatalf("generate a cluster: %v", err)
		}
		return c
	})
}

func oneIn(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

func newJob(t *rapid.T, c *cluster.Cluster, id job.ID) *policy.Job {
	s := &job.Spec{ID: id, Weight: 1, RestartOverhead: 30 * time.Second}
	s.Adaptivity = rapid.SampledFrom([]job.Adaptivity{
		job.Adaptive, job.StrongScaling, job.Rigid, 0, job.GPUCount, job.AnyGPUType | job.BatchSizes,
	}).Draw(t, "adaptivity")
	s.GPUs = rapid.SampledFrom([]int{1, 2, 4, 8, 3, 6, 12, 16}).Draw(t, "GPUs asked for")
	s.Target = rapid.SampledFrom([]float64{0, 1e3, 1e5, 1e7}).Draw(t, "target")
	s.CPUs, s.Memory = float64(rapid.IntRange(0, 2).Draw(t, "CPUs")), 1<<30
	types := c.Types()
	pick := func(what string) *cluster.TypeInfo {
		return &types[rapid.IntRange(0, len(types)-1).Draw(t, what)]
	}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		s.NonPreemptive = true
	case 1:
		s.Reservation = reservation(t, pick("reserved type"))
		s.GPUs, s.CPUs = s.Reservation.GPUs, 0
	case 2:
		s.GPUTypes = []cluster.GPUType{pick("eligible type").Type}
	case 3:
		s.GPUs = 4
		s.GPUsPerReplica = map[cluster.GPUType]int{pick("pipeline on").Type: rapid.SampledFrom([]int{2, 4}).Draw(t, "GPUs per replica")}
	}
	if s.Adaptivity.Has(job.GPUCount) && s.Reservation.IsZero() {
		s.MinGPUs = rapid.SampledFrom([]int{0, 1, s.GPUs}).Draw(t, "least GPUs")
		s.MaxGPUs = rapid.SampledFrom([]int{0, s.GPUs, 4 * s.GPUs}).Draw(t, "most GPUs")
	}
	batches(t, s, types)
	row := &policy.Job{Spec: s, Limits: &s.Batch, Status: job.Status{Phase: job.Waiting}}
	if !oneIn(t, 5, "no model") {
		believe(t, row, types)
	}
	return row
}

func believe(t *rapid.T, j *policy.Job, types []cluster.TypeInfo) {
	m := model(t, j.Spec, types)
	if rapid.Bool().Draw(t, "sensitive") {
		m.Sensitivity = Sensitivities().Draw(t, "sensitivity")
	}
	j.Perf, j.Sensitivity = m, m.Sensitivity
}

// Sensitivities generates random values for how a job's speed depends on CPUs and memory.
func Sensitivities() *rapid.Generator[*perf.Sensitivity] {
	return rapid.Custom(func(t *rapid.T) *perf.Sensitivity {
		s := new(perf.Sensitivity)
		cpus, rate := 0.0, 0.0
		for range rapid.IntRange(1, 6).Draw(t, "CPU points") {
			cpus += rapid.SampledFrom([]float64{1, 0.5, 2, 6}).Draw(t, "more CPUs")
			rate += rapid.SampledFrom([]float64{10, 0, 2, 40}).Draw(t, "more samples per second")
			s.CPUs = append(s.CPUs, perf.CPURate{CPUs: cpus, Rate: rate})
		}
		if rapid.Bool().Draw(t, "reads from storage") {
			s.Dataset = rapid.SampledFrom([]int64{150e9, 20e9, 1500e9}).Draw(t, "dataset")
			s.Storage = rapid.SampledFrom([]float64{5, 1, 100}).Draw(t, "samples per second from storage")
			s.Working = rapid.SampledFrom([]int64{1e9, 0, 70e9}).Draw(t, "working memory")
		}
		return s
	})
}

func reservation(t *rapid.T, info *cluster.TypeInfo) cluster.Configuration {
	r := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: info.Type}
	for 2*r.GPUs <= info.Sizes[0] && rapid.Bool().Draw(t, "double the reservation") {
		r.GPUs *= 2
	}
	if len(info.Sizes) == 1 && oneIn(t, 3, "reserve whole nodes") {
		r.Nodes = rapid.IntRange(1, info.Nodes).Draw(t, "reserved nodes")
		r.GPUs = r.Nodes * info.PerNode
	}
	return r
}

func batches(t *rapid.T, s *job.Spec, types []cluster.TypeInfo) {
	init := rapid.SampledFrom([]int{8, 32, 100}).Draw(t, "initial batch")
	s.Batch = job.BatchLimits{Init: init, Max: init * rapid.SampledFrom([]int{1, 4, 32}).Draw(t, "batch growth")}
	s.Batch.LocalMin = rapid.IntRange(0, 2).Draw(t, "least local batch")
	s.Batch.LocalMax = make(map[cluster.GPUType]int)
	for i := range types {
		s.Batch.LocalMax[types[i].Type] = rapid.SampledFrom([]int{4, 16, 64}).Draw(t, "most local batch")
	}
	s.BatchSize = rapid.SampledFrom([]int{s.Batch.Init, s.Batch.Max}).Draw(t, "batch size")
}

func model(t *rapid.T, s *job.Spec, types []cluster.TypeInfo) *Model {
	m := &Model{Params: make(map[cluster.GPUType]perf.Params), GPUs: s.GPUsPerReplica, Init: float64(s.Batch.Init)}
	m.Phi = rapid.SampledFrom([]float64{1, 100, 1e4}).Draw(t, "noise scale")
	for i := range types {
		slow := rapid.SampledFrom([]float64{1, 2, 5}).Draw(t, "slowness")
		sync := rapid.SampledFrom([]float64{0.01, 0.1, 1}).Draw(t, "exchange")
		m.Params[types[i].Type] = perf.Params{
			AlphaC: 0.02 * slow, BetaC: 0.005 * slow, AlphaN: 0.2 * sync, BetaN: 0.01 * sync,
			AlphaR: 0.1 * sync, BetaR: 0.001 * sync, Gamma: 2,
		}
	}
	return m
}
