package policytest

import (
	"strconv"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// A Toy is a small simulated cluster for examples. Restarts take no time, and all speeds are known exactly.
type Toy struct {
	Jobs   []*policy.Job // active jobs, by submission
	Length time.Duration // length of a round; default 1 min
	Now    time.Time
	Ends   map[job.ID]time.Duration // ends of jobs in the last round, counted from Epoch

	t        testing.TB
	cluster  *cluster.Cluster
	round    int
	computed any
}

// NewToy returns a cluster with one node for each value of gpus, which is its number of GPUs. The GPU types
// are named a, b, c, ….
func NewToy(t testing.TB, gpus ...int) *Toy {
	t.Helper()
	var nodes []cluster.Node
	for i, n := range gpus {
		name := "abcdefgh"[i : i+1]
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(name), GPUType: cluster.GPUType(name), Capacity: cluster.Resources{GPUs: n}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return &Toy{t: t, cluster: c, Length: time.Minute, Now: Epoch, Ends: map[job.ID]time.Duration{}}
}

// Submit adds a rigid job that requests gpus GPUs and takes runtime on them.
func (w *Toy) Submit(id job.ID, gpus int, runtime time.Duration) *policy.Job {
	s := &job.Spec{ID: id, GPUs: gpus, Weight: 1, Adaptivity: job.Rigid, Target: float64(gpus) * runtime.Seconds()}
	j := &policy.Job{Spec: s, Perf: &Speedup{}, Limits: &s.Batch}
	j.Phase, j.Submitted, j.Since = job.Waiting, w.Now, w.Now
	w.Jobs = append(w.Jobs, j)
	return j
}

// Elastic adds a job that requests one GPU and can use up to maxGPUs. It takes runtime on one GPU; rates are its
// relative speeds on 1, 2 and more GPUs.
func (w *Toy) Elastic(id job.ID, maxGPUs int, runtime time.Duration, rates ...float64) *policy.Job {
	j := w.Submit(id, 1, runtime)
	j.Adaptivity, j.Spec.MaxGPUs, j.Perf = job.StrongScaling, maxGPUs, &Speedup{rates}
	if len(rates) > 0 {
		j.Target *= rates[0]
	}
	return j
}

// A Speedup is a perf.Model that lists a job's progress per second on 1, 2, 3, … GPUs. If the list is empty, the
// progress per second is the number of GPUs.
type Speedup struct{ Rates []float64 }

// Throughput implements perf.Model.
func (s *Speedup) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	if len(s.Rates) == 0 || a.GPUs == 0 {
		return float64(a.GPUs)
	}
	return s.Rates[min(a.GPUs, len(s.Rates))-1]
}

// Efficiency implements perf.Model.
func (s *Speedup) Efficiency(float64) float64 { return 1 }

// Snapshot returns the snapshot of the next round.
func (w *Toy) Snapshot() *policy.Snapshot {
	return &policy.Snapshot{Now: w.Now, Round: w.round, Length: w.Length, Cluster: w.cluster, Jobs: append([]*policy.Job(nil), w.Jobs...), Computed: w.computed}
}

// Play lets policy p plan one round, carries out the plan and its background work, and returns the plan.
func (w *Toy) Play(p policy.Policy) *policy.Plan {
	w.t.Helper()
	s := w.Snapshot()
	plan, err := p.Plan(w.t.Context(), s)
	if err == nil {
		err = policy.Check(s, plan)
	}
	if err != nil {
		w.t.Fatalf("round %d: %v", w.round, err)
	}
	w.Jobs = w.Jobs[:0]
	for i, j := range s.Jobs {
		row := w.carryOut(j, plan.Jobs[i].Allocation)
		if row.Target > 0 && row.Progress > row.Target*(1-1e-9) {
			w.Ends[row.ID] = w.Now.Add(w.Length).Sub(Epoch)
			continue
		}
		w.Jobs = append(w.Jobs, row)
	}
	if w.computed = nil; plan.Background != nil {
		w.computed = plan.Background.Do(w.t.Context())
	}
	w.Now = w.Now.Add(w.Length)
	w.round++
	return plan
}

func (w *Toy) carryOut(j *policy.Job, a cluster.Allocation) *policy.Job {
	row := *j
	if a.Configuration != j.Allocation.Configuration {
		row.Service, row.GPUService, row.Since = j.AttainedService(w.Now), j.AttainedGPUService(w.Now), w.Now
		row.Allocation, row.Phase = a, job.Waiting
	}
	if row.Holding() {
		row.Phase = job.Running
		row.Progress += w.Length.Seconds() * j.Perf.Throughput(a, job.BatchSize{})
	}
	return &row
}

// GPUs returns the name and number of GPUs of each job, for example "a4 b- c2", where b waits.
func (w *Toy) GPUs() string {
	text := ""
	for _, j := range w.Jobs {
		if text != "" {
			text += " "
		}
		if text += string(j.ID); j.Holding() {
			text += strconv.Itoa(j.Allocation.GPUs)
		} else {
			text += "-"
		}
	}
	return text
}

// StepTime returns zero: unknown.
func (*Speedup) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
