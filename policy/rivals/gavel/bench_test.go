package gavel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

// BenchmarkRound plans rounds of Shockwave's largest scale, with programs solved
// anew in each: a job leaves and comes every time.
func BenchmarkRound(b *testing.B) {
	for _, objective := range gavel.Objectives() {
		for _, types := range []int{1, 3} {
			b.Run(fmt.Sprintf("policy=%s/types=%d/gpus=256/jobs=900", objective, types), func(b *testing.B) {
				w := newTestCluster(b, 256, types)
				for i := range 900 {
					w.submit(fmt.Sprintf("j%04d", i), []int{1, 1, 1, 1, 2, 1, 4, 1, 2, 8}[i%10], 1+float64(i%37))
				}
				p := fresh(b, func(o *gavel.Options) { o.Objective = objective })
				rounds := 0
				for b.Loop() {
					w.jobs[rounds%900] = w.newJob(fmt.Sprintf("k%06d", rounds), 1, 5)
					if _, err := p.Plan(b.Context(), w.snapshot()); err != nil {
						b.Fatal(err)
					}
					rounds++
					w.now = w.now.Add(w.length)
				}
				b.ReportMetric(float64(rounds)/b.Elapsed().Seconds(), "rounds/s")
			})
		}
	}
}

// A testCluster has nodes of one GPU each, and jobs that run as planned.
type testCluster struct {
	t       testing.TB
	cluster *cluster.Cluster
	jobs    []*policy.Job
	now     time.Time
	length  time.Duration
	round   int
}

// newTestCluster returns a cluster with as many GPUs, of types a (the fastest), b, c.
func newTestCluster(t testing.TB, gpus, types int) *testCluster {
	t.Helper()
	var nodes []cluster.Node
	for i := range gpus {
		kind := cluster.GPUType("abc"[i%types : i%types+1])
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%s-%03d", kind, i)), GPUType: kind, Capacity: cluster.Resources{GPUs: 1}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return &testCluster{t: t, cluster: c, now: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), length: 2 * time.Minute}
}

// A speed is a perf.Model: samples per second by GPU type, whatever the batch.
type speed map[cluster.GPUType]float64

func (s speed) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return s[a.GPUType] }
func (s speed) Efficiency(float64) float64                               { return 1 }

// newJob returns a waiting job of batches of one sample that is 5, 2 and 1 times as
// fast as rate on types a, b and c.
func (w *testCluster) newJob(id string, gpus int, rate float64) *policy.Job {
	s := &job.Spec{ID: job.ID(id), GPUs: gpus, BatchSize: 1, Adaptivity: job.Rigid, Weight: 1, Target: 1e4 * rate}
	return &policy.Job{
		Spec: s, Status: job.Status{Phase: job.Waiting, Submitted: w.now, Since: w.now},
		Perf: speed{"a": 5 * rate, "b": 2 * rate, "c": rate}, Limits: &s.Batch,
	}
}

func (w *testCluster) submit(id string, gpus int, rate float64) *policy.Job {
	w.jobs = append(w.jobs, w.newJob(id, gpus, rate))
	return w.jobs[len(w.jobs)-1]
}

func (w *testCluster) snapshot() *policy.Snapshot {
	return &policy.Snapshot{Now: w.now, Round: w.round, Length: w.length, Cluster: w.cluster, Jobs: append([]*policy.Job(nil), w.jobs...)}
}

// play carries a plan out for a round: jobs progress and leave when they are done.
func (w *testCluster) play(p policy.Policy) *policy.Plan {
	w.t.Helper()
	s := w.snapshot()
	plan, err := p.Plan(w.t.Context(), s)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := policy.Check(s, plan); err != nil {
		w.t.Fatal(err)
	}
	next := w.now.Add(w.length)
	w.jobs = w.jobs[:0]
	for i, j := range s.Jobs {
		row := *j
		if got := plan.Jobs[i].Allocation; got.Configuration != j.Allocation.Configuration {
			row.Service, row.GPUService, row.Since = j.AttainedService(w.now), j.AttainedGPUService(w.now), w.now
			row.Allocation, row.Phase = got, job.Waiting
			if got.GPUs > 0 {
				row.Phase = job.Running
			}
		}
		if row.Holding() && j.Perf != nil {
			row.Progress += w.length.Seconds() * j.Perf.Throughput(row.Allocation, job.BatchSize{})
		}
		if row.Progress < row.Target {
			w.jobs = append(w.jobs, &row)
		}
	}
	w.now = next
	w.round++
	return plan
}

func (speed) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
