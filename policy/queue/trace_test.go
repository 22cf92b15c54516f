package queue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/queue"
)

// BenchmarkTrace decides, checks and places every round of a trace of 50,000
// jobs on 3,504 GPUs under FIFO: what the rest of a simulator has to add.
func BenchmarkTrace(b *testing.B) {
	var nodes []cluster.Node
	for i := range 438 {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%03d", i)), GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("policy=fifo/gpus=3504/jobs=50000", func(b *testing.B) {
		rounds, active := 0, 0
		for b.Loop() {
			tr := trace{b: b, s: &policy.Snapshot{Cluster: c, Length: time.Minute}, policy: queue.New(queue.FIFO())}
			tr.placer = submesh.New(submesh.DefaultOptions())
			tr.run(50000)
			rounds, active = tr.s.Round, tr.active
		}
		b.ReportMetric(float64(rounds), "rounds/op")
		b.ReportMetric(float64(active)/float64(rounds), "jobs/round")
	})
}

// A trace plays jobs that arrive at random and run for a random time.
type trace struct {
	b      *testing.B
	s      *policy.Snapshot
	policy *queue.Policy
	placer *submesh.Placer
	active int // jobs, summed over rounds
}

// run plays n jobs: 1.2 a minute, 1 to 16 GPUs, 6 h on average.
func (tr *trace) run(n int) {
	r := rng.Stream(1, "trace")
	for born := 0; born < n || len(tr.s.Jobs) > 0; {
		tr.s.Now = epoch.Add(time.Duration(tr.s.Round) * tr.s.Length)
		for born < n && float64(born) < 1.2*float64(tr.s.Round+1) {
			j := gang(job.ID(fmt.Sprint("j", born)), 1<<r.IntN(5))
			j.Target = r.ExpFloat64() * 6 * 3600 // seconds
			tr.s.Jobs = append(tr.s.Jobs, j)
			born++
		}
		tr.s.Jobs = slices.DeleteFunc(tr.s.Jobs, func(j *policy.Job) bool {
			return j.Holding() && tr.s.Now.Sub(j.Since).Seconds() >= j.Target
		})
		tr.round()
		tr.s.Round++
		tr.active += len(tr.s.Jobs)
	}
}

// round decides one round and carries it out.
func (tr *trace) round() {
	p, err := tr.policy.Plan(tr.b.Context(), tr.s)
	if err == nil {
		err = policy.Check(tr.s, p)
	}
	if err == nil {
		_, err = tr.placer.Place(tr.b.Context(), tr.s, p)
	}
	if err == nil {
		err = policy.Check(tr.s, p)
	}
	if err != nil {
		tr.b.Fatal(err)
	}
	for i, j := range tr.s.Jobs {
		if d := &p.Jobs[i]; d.Allocation != j.Allocation || !j.Placement.Equal(d.Placement) {
			row := *j
			row.Phase, row.Since, row.Allocation, row.Placement = job.Running, tr.s.Now, d.Allocation, d.Placement
			tr.s.Jobs[i] = &row
		}
	}
}
