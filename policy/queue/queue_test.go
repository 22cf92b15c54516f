package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
)

func TestConformance(t *testing.T) {
	for name, o := range map[string]queue.Options{
		"fifo": queue.FIFO(), "srtf": queue.SRTF(), "las": queue.LAS(),
		"fifo with backfill": {Backfill: true}, "fifo by node": {ByNode: true}, "easy by node": {Order: queue.HighestPriority, Backfill: true, Reservations: 1, ByNode: true}, "fifo that preempts": {Preempt: true}, "srtf without backfill": {Order: queue.ShortestFirst, Preempt: true},
	} {
		t.Run(name, func(t *testing.T) {
			policytest.RunMemoryless(t, func() policy.Policy { return queue.New(o) })
		})
	}
}

// epoch is the time of the test rounds.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// small is a cluster of two 4-GPU t4 nodes and one 8-GPU a100 node.
func small(t testing.TB) *cluster.Cluster {
	t.Helper()
	node := func(id cluster.NodeID, gt cluster.GPUType, gpus int) cluster.Node {
		return cluster.Node{ID: id, GPUType: gt, Capacity: cluster.Resources{GPUs: gpus}}
	}
	c, err := cluster.New([]cluster.Node{node("a", "t4", 4), node("b", "t4", 4), node("c", "a100", 8)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func gang(id job.ID, n int, types ...cluster.GPUType) *policy.Job {
	return &policy.Job{
		Spec:   &job.Spec{ID: id, GPUs: n, Adaptivity: job.Rigid, GPUTypes: types},
		Status: job.Status{Phase: job.Waiting, Submitted: epoch, Since: epoch},
	}
}

func running(j *policy.Job, n int, t cluster.GPUType) *policy.Job {
	j.Phase, j.FirstStarted = job.Running, epoch
	j.Allocation.Configuration = cluster.Configuration{Nodes: n, GPUs: j.GPUs, GPUType: t}
	return j
}

// speeds is a model that trains at a fixed speed on each GPU type.
type speeds map[cluster.GPUType]float64

func (s speeds) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return s[a.GPUType] }
func (s speeds) Efficiency(float64) float64                               { return 1 }

// got is what a job got and why, in one line.
func got(d *policy.Decision) string {
	return fmt.Sprintf("%v %v %g/%g", d.Allocation.Configuration, d.Why.Kind, d.Why.Value, d.Why.Limit)
}

func TestPlan(t *testing.T) {
	served := func(j *policy.Job, d time.Duration) *policy.Job { j.GPUService = d; return j }
	length := func(j *policy.Job, target float64) *policy.Job { j.Target = target; return j }
	with := func(j *policy.Job, f func(*policy.Job)) *policy.Job { f(j); return j }
	tests := []struct {
		name string
		o    queue.Options
		jobs []*policy.Job
		want []string
	}{
		{
			"the head of the line holds up all behind it", queue.FIFO(),
			[]*policy.Job{gang("a", 4, "t4"), gang("b", 8, "t4"), gang("c", 1)},
			[]string{"(1, 4, t4) started 0/0", "(none) waiting: no capacity 4/8", "(none) waiting: queue order 1/1"},
		},
		{
			"backfill passes the head of the line",
			queue.Options{Backfill: true},
			[]*policy.Job{gang("a", 4, "t4"), gang("b", 8, "t4"), gang("c", 1, "t4")},
			[]string{"(1, 4, t4) started 0/0", "(none) waiting: no capacity 4/8", "(1, 1, t4) started 0/0"},
		},
		{
			"running jobs keep their GPUs under FIFO", queue.FIFO(),
			[]*policy.Job{gang("a", 8, "t4"), running(gang("b", 1), 1, "t4")},
			[]string{"(none) waiting: no capacity 7/8", "(1, 1, t4) as planned 0/0"},
		},
		{
			"a job that can never fit holds up nobody", queue.FIFO(),
			[]*policy.Job{gang("a", 9), gang("b", 1)},
			[]string{"(none) impossible on this cluster 0/0", "(1, 1, t4) started 0/0"},
		},
		{
			"a job being profiled holds up nobody", queue.FIFO(),
			[]*policy.Job{with(gang("a", 1), func(j *policy.Job) { j.Phase = job.Profiling }), gang("b", 1)},
			[]string{"(none) waiting: not yet profiled 0/0", "(1, 1, t4) started 0/0"},
		},
		{
			"a gang over two nodes names two nodes", queue.FIFO(),
			[]*policy.Job{gang("a", 6, "t4")},
			[]string{"(2, 6, t4) started 0/0"},
		},
		{
			"the type with the highest believed throughput", queue.FIFO(),
			[]*policy.Job{with(gang("a", 2), func(j *policy.Job) { j.Perf = speeds{"t4": 1, "a100": 3} })},
			[]string{"(1, 2, a100) started 0/0"},
		},
		{
			"without a model the type with most free GPUs", queue.FIFO(),
			[]*policy.Job{gang("a", 2, "t4"), gang("b", 2)},
			[]string{"(1, 2, t4) started 0/0", "(1, 2, a100) started 0/0"},
		},
		{
			"SRTF preempts the longer job", queue.SRTF(),
			[]*policy.Job{length(running(gang("a", 8, "t4"), 2, "t4"), 100), length(gang("b", 4, "t4"), 10)},
			[]string{"(none) waiting: others are first 4/8", "(1, 4, t4) started 0/0"},
		},
		{
			"SRTF measures time, not samples", queue.SRTF(),
			[]*policy.Job{
				with(length(gang("a", 8, "t4"), 100), func(j *policy.Job) { j.Perf = speeds{"t4": 1} }),
				with(length(gang("b", 8, "t4"), 1000), func(j *policy.Job) { j.Perf = speeds{"t4": 20} }),
			},
			[]string{"(none) waiting: others are first 0/8", "(2, 8, t4) started 0/0"},
		},
		{
			"LAS preempts the job with more GPU service", queue.LAS(),
			[]*policy.Job{served(running(gang("a", 8, "a100"), 1, "a100"), time.Hour), served(gang("b", 1, "a100"), time.Minute)},
			[]string{"(none) waiting: others are first 7/8", "(1, 1, a100) started 0/0"},
		},
		{
			"a preemptive order keeps the type a job holds", queue.LAS(),
			[]*policy.Job{with(running(gang("a", 2), 1, "t4"), func(j *policy.Job) { j.Perf = speeds{"t4": 1, "a100": 3} })},
			[]string{"(1, 2, t4) as planned 0/0"},
		},
		{
			"a non-preemptive job is not preempted", queue.LAS(),
			[]*policy.Job{
				with(served(running(gang("a", 8, "t4"), 2, "t4"), time.Hour), func(j *policy.Job) { j.NonPreemptive = true }),
				gang("b", 1, "t4"),
			},
			[]string{"(2, 8, t4) non-preemptive 0/0", "(none) waiting: no capacity 0/1"},
		},
		{
			"a reservation takes GPUs from running jobs even under FIFO", queue.FIFO(),
			[]*policy.Job{
				running(gang("a", 8, "t4"), 2, "t4"),
				with(gang("b", 4), func(j *policy.Job) {
					j.Reservation = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "t4"}
				}),
			},
			[]string{"(none) waiting: no capacity 4/8", "(1, 4, t4) reserved 0/0"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &policy.Snapshot{Now: epoch.Add(time.Minute), Cluster: small(t), Jobs: test.jobs}
			p, err := queue.New(test.o).Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if err := policy.Check(s, p); err != nil {
				t.Error(err)
			}
			var lines []string
			for i := range p.Jobs {
				lines = append(lines, got(&p.Jobs[i]))
			}
			if diff := cmp.Diff(test.want, lines); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanRunsAdaptiveJobsAsSubmitted(t *testing.T) {
	j := gang("a", 4, "a100")
	j.Adaptivity, j.BatchSize = job.Adaptive, 100
	j.Limits = &job.BatchLimits{Init: 10, Max: 1000, LocalMax: map[cluster.GPUType]int{"a100": 20}}
	p, err := queue.New(queue.FIFO()).Plan(t.Context(), &policy.Snapshot{Cluster: small(t), Jobs: []*policy.Job{j}})
	if err != nil {
		t.Fatal(err)
	}
	// 100 samples on 4 replicas are 25 each: two passes of 13, of at most 20.
	if got, want := p.Jobs[0].Batch, (job.BatchSize{Local: 13, Accumulation: 1}); got != want {
		t.Fatalf("batch %+v, want %+v", got, want)
	}
}

func TestPlanStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := queue.New(queue.FIFO()).Plan(ctx, &policy.Snapshot{Cluster: small(t)})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
}

// BenchmarkPlan is one round of a 3,500-GPU cluster that is full, with as many
// jobs waiting as running.
func BenchmarkPlan(b *testing.B) {
	for name, o := range map[string]queue.Options{"fifo": queue.FIFO(), "srtf": queue.SRTF(), "las": queue.LAS()} {
		b.Run("policy="+name+"/gpus=3500/jobs=1000", func(b *testing.B) {
			s, p := crowd(b), queue.New(o)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Plan(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(s.Jobs)), "ns/job")
		})
	}
}

func crowd(b *testing.B) *policy.Snapshot {
	var nodes []cluster.Node
	for i := range 438 {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%03d", i)), GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		b.Fatal(err)
	}
	s := &policy.Snapshot{Now: epoch.Add(time.Hour), Cluster: c}
	limits := &job.BatchLimits{Init: 32, Max: 4096, LocalMax: map[cluster.GPUType]int{"a100": 64}}
	for i := range 1000 {
		j := gang(job.ID(fmt.Sprintf("j%d", i)), 7)
		j.Target, j.BatchSize, j.Limits, j.Perf = float64(1000+i*7919%1000), 512, limits, speeds{"a100": 1}
		if i < 500 {
			running(j, 1, "a100")
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

func (speeds) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
