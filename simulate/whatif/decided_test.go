package whatif_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	simrun "github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A forward looks ahead once in a run to which no more jobs come, and keeps what was found.
type forward struct {
	*listener
	t     *testing.T
	at    int // round
	from  time.Time
	found []whatif.Times
}

func (f *forward) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	f.listener.Round(s, p, acts)
	if f.rounds != f.at {
		return
	}
	last, o := f.State()
	o.Between = 0
	found, err := whatif.Ahead(f.t.Context(), last, o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.from, f.found = s.Now, found
}

// TestAhead_goes_on: a policy that goes by earlier rounds decides in a look ahead as it goes on to in the run. Where jobs
// are as fast as is believed and no more come, all end when the look says, to the second.
func TestAhead_goes_on(t *testing.T) {
	if testing.Short() {
		t.Skip("plays long runs")
	}
	under := load{"cluster=v100:2x8/24c/500g;generate.kind=synergy-static;generate.jobs=24;generate.multi-gpu=true", 1 << 30}
	const name = "oxgang"
	for _, at := range []int{40, 300} {
		f := &forward{t: t, at: at}
		c, in, again, types := configured(t, name, under, 7)
		f.listener = newListener(t, under.every)
		f.Predictor = whatif.NewPredictor(again.Fresh, again.Scheduler, types)
		watch := simrun.Watch{Whole: true, Observer: func(d *simrun.Decider) scheduler.Observer {
			f.watch(d)
			return f
		}}
		if _, err := simrun.SimulateWatched(t.Context(), c, in, name, watch); err != nil {
			t.Fatal(err)
		}
		f.compare()
	}
}

// compare fails if a job ended at another time than was found.
func (f *forward) compare() {
	f.t.Helper()
	if len(f.found) < 3 {
		f.t.Fatalf("%d jobs in round %d, want more", len(f.found), f.at)
	}
	for _, x := range f.found {
		ended := f.ends[x.Job].Sub(f.from)
		if off := (x.End.Early - ended).Abs(); x.End.Why != whatif.Known || off > time.Second {
			f.t.Errorf("round %d: job %s was to end in %v (%v), and did in %v", f.at, x.Job, x.End.Early, x.End.Why, ended)
		}
	}
}

// TestAhead_goes_on_while_jobs_train: a job that has GPUs comes nearer to its end, so that the simulation waits for it, and for one
// behind it, for longer than for jobs that nothing happens to.
func TestAhead_goes_on_while_jobs_train(t *testing.T) {
	r := mixed(t, 2).flat()
	r.cluster = nodes(t, 1, "rtx")
	for i := range r.arrivals {
		r.arrivals[i].At = 0
		r.arrivals[i].Spec.GPUs, r.arrivals[i].Spec.MinGPUs, r.arrivals[i].Spec.GPUTypes = 1, 1, []cluster.GPUType{"rtx"}
	}
	r.knowing()
	snap := r.until(t, "fifo", 3*time.Minute)
	for i, j := range snap.Jobs { // longer than 3,000 rounds of a minute
		row, spec := *j, *j.Spec
		row.Spec = &spec
		spec.Target *= []float64{900, 150}[i]
		snap.Jobs[i] = &row
	}
	o := options("fifo")
	o.Scheduler, o.Rounds = r.scheduler, 20_000
	etas, err := whatif.Ahead(t.Context(), snap, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(etas) != 2 {
		t.Fatalf("%d jobs, want 2", len(etas))
	}
	for _, e := range etas {
		if e.End.Why != whatif.Known || e.End.Early < 50*time.Hour {
			t.Errorf("job %s: ends in %v (%v), want more than 50 hours, known", e.Job, e.End.Early, e.End.Why)
		}
	}
}
