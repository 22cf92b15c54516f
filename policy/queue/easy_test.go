package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// timed returns a job that runs for so long on n GPUs of a type.
func timed(id job.ID, n int, lasts time.Duration, types ...cluster.GPUType) *policy.Job {
	j := gang(id, n, types...)
	j.Timed, j.Target = true, lasts.Seconds()
	j.Perf = perf.ByDuration{Spec: j.Spec}
	return j
}

// TestEASY: worked examples on 8 a100 GPUs, of which 5 are held for another hour, with 7
// wanted by the first in line: one GPU will be left over then.
func TestEASY(t *testing.T) {
	for name, test := range map[string]struct {
		passes *policy.Job
		want   string
	}{
		"who ends before the first can start passes":                {timed("c", 3, 50*time.Minute, "a100"), "(1, 3, a100) started 0/0"},
		"who would delay it waits, and is told when that starts":    {timed("c", 3, 2*time.Hour, "a100"), "(none) waiting: would delay the first in the queue 3600/3"},
		"who takes only what is left over passes, however long":     {timed("c", 1, 100*time.Hour, "a100"), "(1, 1, a100) started 0/0"},
		"another type is not reserved":                              {timed("c", 3, 2*time.Hour, "t4"), "(1, 3, t4) started 0/0"},
		"of whom it is not known how long it lasts does not pass":   {gang("c", 3, "a100"), "(none) waiting: would delay the first in the queue 3600/3"},
		"one that does not fit waits behind the first":              {timed("c", 4, time.Minute, "a100"), "(none) waiting: queue order 1/4"},
		"a job of unknown length passes on what will be left over":  {gang("c", 1, "a100"), "(1, 1, a100) started 0/0"},
		"its start counts: a minute short of the hour is too late":  {delayed(timed("c", 3, 59*time.Minute, "a100")), "(none) waiting: would delay the first in the queue 3600/3"},
		"with what it is known to take it is there just in time":    {timed("c", 3, time.Hour, "a100"), "(1, 3, a100) started 0/0"},
		"a job that no cluster like this could carry is told so":    {gang("c", 9, "a100"), "(none) impossible on this cluster 0/0"},
		"one that is not yet profiled waits for that and no other":  {profiled(gang("c", 1, "a100")), "(none) waiting: not yet profiled 0/0"},
		"one that is reserved takes its GPUs ahead of the backfill": {reserved(timed("c", 3, 2*time.Hour, "a100")), "(1, 3, a100) reserved 0/0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{
				running(timed("a", 5, time.Hour, "a100"), 1, "a100"), timed("b", 7, time.Hour, "a100"), test.passes,
			}}
			s.Jobs[0].Placement = cluster.Placement{{Node: "c", Resources: cluster.Resources{GPUs: 5}}}
			plan, err := queue.New(queue.EASY()).Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got(&plan.Jobs[2])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func delayed(j *policy.Job) *policy.Job  { j.RestartOverhead = 2 * time.Minute; return j }
func profiled(j *policy.Job) *policy.Job { j.Phase = job.Profiling; return j }
func reserved(j *policy.Job) *policy.Job {
	j.Reservation = cluster.Configuration{Nodes: 1, GPUs: 3, GPUType: "a100"}
	return j
}

// TestEASY_never_delays_the_first: where every duration is what it is believed to be, the
// first in line starts no later with jobs passing it than if nobody may.
func TestEASY_never_delays_the_first(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lengths []time.Duration
		var gpus []int
		for range rapid.IntRange(3, 12).Draw(t, "jobs") {
			lengths = append(lengths, time.Duration(rapid.IntRange(1, 40).Draw(t, "minutes"))*time.Minute)
			gpus = append(gpus, rapid.IntRange(1, 8).Draw(t, "GPUs"))
		}
		first := func(o queue.Options) (job.ID, time.Duration) {
			return blockedUntil(t, o, gpus, lengths)
		}
		strict, at := first(queue.FIFO())
		easy, then := first(queue.EASY())
		if strict != easy || then > at {
			t.Fatalf("the first that had to wait was job %s until %v in strict order, job %s until %v with backfill", strict, at, easy, then)
		}
	})
}

// blockedUntil plays jobs that all are there at once on 8 GPUs, and returns the first that does
// not start at once, and when it starts.
func blockedUntil(t *rapid.T, o queue.Options, gpus []int, lengths []time.Duration) (first job.ID, at time.Duration) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: c}
	for i := range gpus {
		s.Jobs = append(s.Jobs, timed(job.ID(fmt.Sprintf("%02d", i)), gpus[i], lengths[i], "a"))
	}
	for p := queue.New(o); ; s.Now = s.Now.Add(time.Minute) {
		plan, err := p.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		var still []*policy.Job
		for i, j := range s.Jobs {
			row := *j
			row.Allocation = plan.Jobs[i].Allocation
			switch {
			case !row.Holding() && first == "":
				first = j.ID
			case row.Holding() && !j.Holding():
				row.Phase, row.Since, row.Reported = job.Running, s.Now, s.Now
			}
			if j.ID == first && row.Holding() {
				return first, s.Now.Sub(epoch)
			}
			if !row.Holding() || row.Done(s.Now.Add(time.Minute)) < row.Target {
				still = append(still, &row)
			}
		}
		if s.Jobs = still; len(still) == 0 {
			return "", 0
		}
	}
}

// TestEASY_keeps_the_place_where_the_first_ends_first: of two types, the one that is free sooner,
// or on which the job is so much faster that it ends there sooner all the same. A job that
// starts in this round ends its start later.
func TestEASY_keeps_the_place_where_the_first_ends_first(t *testing.T) {
	for name, test := range map[string]struct {
		a100 float64       // speed there; 1 on t4
		wait time.Duration // until a100 is free; an hour on t4
		want cluster.GPUType
	}{
		"free sooner":                   {1, 2 * time.Hour, "t4"},
		"later, and it ends sooner":     {4, 90 * time.Minute, "a100"},
		"later, and it ends no sooner":  {4, 3 * time.Hour, "t4"},
		"sooner on the type that comes": {1, 30 * time.Minute, "a100"},
	} {
		t.Run(name, func(t *testing.T) {
			first := gang("first", 8)
			first.Target, first.Perf = 7200, speeds{"t4": 1, "a100": test.a100}
			s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{
				running(timed("a", 7, time.Hour, "t4"), 2, "t4"), running(timed("b", 7, test.wait, "a100"), 1, "a100"),
				first, timed("on t4", 1, 1000*time.Hour, "t4"), timed("on a100", 1, 1000*time.Hour, "a100"),
			}}
			plan, err := queue.New(queue.EASY()).Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for i, kept := range map[int]cluster.GPUType{3: "t4", 4: "a100"} {
				if waits := plan.Jobs[i].Allocation.IsZero(); waits != (kept == test.want) {
					t.Errorf("a job on %s waits: %v, and the place is to be kept on %s", kept, waits, test.want)
				}
			}
		})
	}
}

// TestEASY_counts_starts: a job that starts now ends its start later than it runs.
func TestEASY_counts_starts(t *testing.T) {
	starts := delayed(timed("a", 5, time.Hour, "a100"))
	passes := timed("c", 3, 61*time.Minute, "a100")
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{starts, timed("b", 7, time.Hour, "a100"), passes}}
	plan, err := queue.New(queue.EASY()).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Jobs[2].Why.Kind; got != policy.Started {
		t.Errorf("a job of 61 min beside one of 60 that takes 2 min to start: %v, want %v", got, policy.Started)
	}
}

// TestEASY_serves_by_priority: the job with the highest priority starts first, those of one priority by
// submission, and it is that job whose start is not delayed.
func TestEASY_serves_by_priority(t *testing.T) {
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{
		running(timed("a", 5, time.Hour, "a100"), 1, "a100"),
		timed("b", 2, 2*time.Hour, "a100"), timed("c", 2, 2*time.Hour, "a100"), timed("d", 7, time.Hour, "a100"), timed("e", 2, time.Hour, "a100"),
	}}
	s.Jobs[0].Placement = cluster.Placement{{Node: "c", Resources: cluster.Resources{GPUs: 5}}}
	for i, priority := range []float64{0, 1, 1, 7, 1} {
		s.Jobs[i].Spec.Priority = priority
	}
	plan, err := queue.New(queue.EASY()).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]string{
		1: "(none) waiting: would delay the first in the queue 3600/2", 2: "(none) waiting: would delay the first in the queue 3600/2",
		3: "(none) waiting: no capacity 3/7", 4: "(1, 2, a100) started 0/0",
	} {
		if d := got(&plan.Jobs[i]); d != want {
			t.Errorf("job %s: %s, want %s", s.Jobs[i].ID, d, want)
		}
	}
}

// TestConservative: with two reservations a job that would delay only the second that does not fit waits,
// and is told that jobs are ahead of it; with one it passes.
func TestConservative(t *testing.T) {
	for reservations, want := range map[int]string{1: "(1, 1, a100) started 0/0", 2: "(none) waiting: queue order 2/1"} {
		s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{
			running(timed("a", 5, time.Hour, "a100"), 1, "a100"),
			timed("first", 7, time.Hour, "a100"), timed("second", 8, time.Hour, "a100"),
			timed("c", 1, 150*time.Minute, "a100"),
		}}
		s.Jobs[0].Placement = cluster.Placement{{Node: "c", Resources: cluster.Resources{GPUs: 5}}}
		o := queue.EASY()
		o.Reservations = reservations
		plan, err := queue.New(o).Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if d := got(&plan.Jobs[3]); d != want {
			t.Errorf("%d reservations: %s, want %s", reservations, d, want)
		}
	}
}
