//go:build unix

package run

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// BenchmarkRound has whole rounds: snapshot, plan, check, placement, actions, and the journal of the round and of
// what happened before it. In each round a tenth of the jobs report, one in two hundred ends, and as many come.
// docs/experiments/speed.md has the figures.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct{ gpus, jobs int }{{64, 100}, {25_000, 3_500}, {100_000, 14_000}, {1_000_000, 100_000}} {
		b.Run(fmt.Sprintf("policy=sia/gpus=%d/jobs=%d", size.gpus, size.jobs), func(b *testing.B) {
			newTown(b, size.gpus, size.jobs).bench(b)
		})
	}
}

// A town is a scheduler with its journal, and the jobs it is told of.
type town struct {
	b      *testing.B
	s      *scheduler.Scheduler
	w      *journal.Writer
	random interface{ Float64() float64 }
	now    time.Time
	jobs   []*resident
	count  int
}

// A resident is a job, and what runs of it.
type resident struct {
	spec  *job.Spec
	scale float64 // seconds of a pass over 64 samples on the slowest type
	holds cluster.Configuration
}

// newTown returns so many jobs on the thesis' three types of nodes, in its ratio of 24, 24 and 16 GPUs.
func newTown(b *testing.B, gpus, jobs int) *town {
	var nodes []cluster.Node
	add := func(t cluster.GPUType, count, size int) {
		for i := range count {
			nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%s-%d", t, i)), GPUType: t, Capacity: cluster.Resources{GPUs: size}})
		}
	}
	add("t4", gpus*24/64/4, 4)
	add("rtx", gpus*24/64/8, 8)
	add("a100", gpus*16/64/8, 8)
	c, err := cluster.New(nodes)
	if err != nil {
		b.Fatal(err)
	}
	p, err := registry.New("sia", nil)
	if err != nil {
		b.Fatal(err)
	}
	placer, err := registry.NewPlacer("submesh", registry.PlacerOptions{})
	if err != nil {
		b.Fatal(err)
	}
	o := scheduler.DefaultOptions()
	o.Profile, o.Estimate.Fits = false, estimate.NewCache()
	s, err := scheduler.New(p, placer, c, o)
	if err != nil {
		b.Fatal(err)
	}
	t := &town{b: b, s: s, random: rng.Stream(1, "town"), now: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	t.w = journal.NewWriter(io.Discard, journal.Header{Tool: "bench", Policy: "sia", Start: t.now, Round: o.Round, Cluster: c})
	for range jobs {
		t.submit()
	}
	return t
}

func (t *town) tell(ev scheduler.Event) {
	if _, err := t.s.Step(t.now, ev); err != nil {
		t.b.Fatal(err)
	}
	t.w.Event(t.now, ev)
}

// submit submits a job of which the speed on one GPU of each type is known.
func (t *town) submit() {
	spec := &job.Spec{
		ID: job.ID(fmt.Sprintf("job-%06d", t.count)), GPUs: 1, Adaptivity: job.Adaptive, RestartOverhead: 30 * time.Second, MaxGPUs: 64,
		Batch:  job.BatchLimits{Init: 128, Max: 8192, LocalMax: map[cluster.GPUType]int{}},
		Target: 1e6 * math.Exp(4*t.random.Float64()),
	}
	t.count++
	r := &resident{spec: spec, scale: math.Exp(3 * t.random.Float64())}
	t.jobs = append(t.jobs, r)
	t.tell(scheduler.Submitted{Spec: spec})
	for _, of := range t.s.Nodes().Cluster.Types() {
		for _, local := range []int{64, 128} {
			rep := t.measured(r, cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: of.Type}, local)
			rep.Profile = true
			t.tell(scheduler.Reported{Report: rep})
		}
	}
}

// measured returns what the agent of a job reports of a batch on a configuration.
func (t *town) measured(r *resident, c cluster.Configuration, local int) job.Report {
	pass := r.scale * (0.2 + 0.8*float64(local)/64) / (1 + float64(len(c.GPUType)%3))
	sync := 0.05 * pass * float64(c.Nodes) * min(1, float64(c.GPUs-1))
	return job.Report{
		Job: r.spec.ID, Interval: time.Minute, Configuration: c, Batch: job.BatchSize{Local: local},
		StepTime: time.Duration((pass + sync) * 1e9), SyncTime: time.Duration(sync * 1e9), GradSqr: 1, GradVar: 5 + 5*t.random.Float64(),
	}
}

// round tells what happened in a minute, and has a round.
func (t *town) round() (took, wall time.Duration) {
	t.now = t.now.Add(t.s.Length())
	for i := t.count % 10; i < len(t.jobs); i += 10 {
		if r := t.jobs[i]; !r.holds.IsZero() {
			t.tell(scheduler.Reported{Report: t.measured(r, r.holds, 64)})
		}
	}
	for range max(1, len(t.jobs)/200) {
		at := int(t.random.Float64() * float64(len(t.jobs)))
		t.tell(scheduler.Exited{Job: t.jobs[at].spec.ID, Outcome: scheduler.Done})
		t.jobs = slices.Delete(t.jobs, at, at+1)
		t.submit()
	}
	begun, at := used(), time.Now()
	snap, plan, acts := t.s.Round(t.b.Context(), t.now)
	t.w.Round(snap, plan, acts)
	took, wall = used()-begun, time.Since(at)
	if plan.Refused != "" {
		t.b.Fatal(plan.Refused)
	}
	t.carryOut(acts)
	return took, wall
}

// used returns the processor time that the process has used: what others do on a shared machine does not count.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// carryOut starts what is to run: jobs say so at once.
func (t *town) carryOut(acts []scheduler.Action) {
	byID := make(map[job.ID]*resident, len(t.jobs))
	for _, r := range t.jobs {
		byID[r.spec.ID] = r
	}
	for _, act := range acts {
		switch act := act.(type) {
		case scheduler.Run:
			r := byID[act.Job]
			r.holds = act.Allocation.Configuration
			t.tell(scheduler.Reported{Report: job.Report{Job: act.Job, Configuration: r.holds, Batch: job.BatchSize{Local: 64}}})
		case scheduler.Preempt:
			byID[act.Job].holds = cluster.Configuration{}
		}
	}
}

// bench reports the median and the 99th percentile of the rounds, in milliseconds of processors and of the wall, and the memory that the process had.
func (t *town) bench(b *testing.B) {
	for range 12 { // until the jobs have grown
		t.round()
	}
	var took, wall []time.Duration
	for b.Loop() {
		cpu, elapsed := t.round()
		took, wall = append(took, cpu), append(wall, elapsed)
	}
	report(b, "cpu-ms", took)
	report(b, "wall-ms", wall)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB")
}

// report reports the median and the 99th percentile of what rounds took, in milliseconds.
func report(b *testing.B, unit string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, unit+"-median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, unit+"-p99")
}
