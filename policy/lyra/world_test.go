package lyra_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

// A toy is a training cluster and servers on loan, and the jobs there, round by round.
type toy struct {
	t    testing.TB
	p    policy.Policy
	s    *policy.Snapshot
	plan *policy.Plan
}

// newToy returns a world of so many training servers of eight v100 and servers on loan of
// eight t4, three of which do the work of one v100.
func newToy(t testing.TB, p policy.Policy, own, lent int) *toy {
	t.Helper()
	w := &toy{t: t, p: p, s: &policy.Snapshot{Now: policytest.Epoch, Length: time.Minute}}
	w.nodes(own, lent)
	w.s.Loans = w.s.Cluster.Loans()
	for i := range w.s.Loans {
		w.s.Loans[i].Lent = lent
	}
	return w
}

func (w *toy) nodes(own, lent int) {
	var nodes []cluster.Node
	for i := range own {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprint("v", i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8}})
	}
	for i := range lent {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprint("t", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}, Tenure: cluster.Loaned, Group: "t4"})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		w.t.Fatal(err)
	}
	w.s.Cluster = c
}

// count lets all nodes count CPUs and memory.
func (w *toy) count() {
	nodes := slices.Clone(w.s.Cluster.Nodes())
	for i := range nodes {
		nodes[i].Capacity.CPUs, nodes[i].Capacity.Memory = 64, 64<<30
	}
	c, err := cluster.New(nodes)
	if err != nil {
		w.t.Fatal(err)
	}
	w.s.Cluster = c
}

// submit adds a job of the training cluster that runs so long on the GPUs it asks for.
func (w *toy) submit(id job.ID, gpus int, length time.Duration) *policy.Job {
	s := &job.Spec{ID: id, GPUs: gpus, Adaptivity: job.Rigid, Target: length.Seconds(), WorkerGPUs: min(gpus, 8), NoCheckpoint: true, Timed: true}
	s.GPUTypes, s.Equivalents = []cluster.GPUType{"v100"}, map[cluster.GPUType]int{"t4": 3}
	j := &policy.Job{Spec: s, Perf: perf.ByDuration{Spec: s}, Status: job.Status{Phase: job.Waiting, Submitted: w.s.Now, Since: w.s.Now}}
	w.s.Jobs = append(w.s.Jobs, j)
	return j
}

// fungible lets a job run on loan too.
func fungible(j *policy.Job) *policy.Job {
	j.GPUTypes = nil
	return j
}

// elastic makes a job of workers of one GPU that may have up to so many.
func elastic(j *policy.Job, most int) *policy.Job {
	j.Adaptivity |= job.GPUCount
	j.Spec.MinGPUs, j.Spec.MaxGPUs, j.WorkerGPUs, j.Resizes = j.GPUs, most, 1, true
	return j
}

// heterogeneous lets a job run on both sides at once.
func heterogeneous(j *policy.Job) *policy.Job {
	fungible(j).Adaptivity |= job.Heterogeneous
	return j
}

// play plans a round, checks the plan, and carries it out.
func (w *toy) play() *toy {
	w.t.Helper()
	plan, err := w.p.Plan(w.t.Context(), w.s)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := policy.Check(w.s, plan); err != nil {
		w.t.Fatal(err)
	}
	w.plan = plan
	w.s.Now, w.s.Round = w.s.Now.Add(w.s.Length), w.s.Round+1
	for i, j := range w.s.Jobs {
		w.s.Jobs[i] = w.next(j, &plan.Jobs[i])
	}
	w.s.Cluster = w.s.Cluster.Without(func(id cluster.NodeID) bool {
		return slices.Contains(plan.Return, id)
	})
	for i := range w.s.Loans {
		w.s.Loans[i].Lent -= len(plan.Return)
		w.s.Loans[i].Reclaim = max(0, w.s.Loans[i].Reclaim-len(plan.Return))
	}
	return w
}

// next returns what a job is after a round.
func (w *toy) next(j *policy.Job, d *policy.Decision) *policy.Job {
	row := *j
	if d.Allocation != j.Allocation || !d.Placement.Equal(j.Placement) {
		row.Since = w.s.Now.Add(-w.s.Length)
	}
	row.Phase = job.Running
	if d.Allocation.IsZero() {
		row.Phase = job.Waiting
	}
	row.Allocation, row.Placement = d.Allocation, d.Placement
	if row.Phase == j.Phase && d.Allocation == j.Allocation && d.Placement.SameGPUs(j.Placement) {
		return j // as a scheduler does
	}
	return &row
}

// where says who is where: "a v0:8" for a job with eight GPUs on v0; "b -" for one that waits.
func (w *toy) where() string {
	var all []string
	for _, j := range w.s.Jobs {
		at := string(j.ID)
		for _, s := range j.Placement {
			at += fmt.Sprintf(" %s:%d", s.Node, s.GPUs)
		}
		if !j.Holding() {
			at += " -"
		}
		all = append(all, at)
	}
	return strings.Join(all, ", ")
}

// end ends a job.
func (w *toy) end(id job.ID) {
	for i, j := range w.s.Jobs {
		if j.ID == id {
			w.s.Jobs = append(w.s.Jobs[:i:i], w.s.Jobs[i+1:]...)
			return
		}
	}
	w.t.Fatalf("no job %s", id)
}
