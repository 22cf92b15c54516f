package whatif_test

import (
	"errors"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// linear is a job's speed: so many samples per second and GPU.
type linear float64

func (l linear) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	return float64(l) * float64(a.GPUs)
}
func (linear) Efficiency(float64) float64 { return 1 }

// A row is a job of a scenario: what it asks for and, if on is a node, what it holds.
type row struct {
	id     job.ID
	gpus   int
	on     cluster.NodeID
	target float64
	change func(*job.Spec)
}

func scenario(t *testing.T, c *cluster.Cluster, rows ...row) *policy.Snapshot {
	t.Helper()
	s := &policy.Snapshot{Now: sim.Epoch, Round: 7, Length: time.Minute, Cluster: c}
	for i, r := range rows {
		spec := &job.Spec{ID: r.id, GPUs: r.gpus, MinGPUs: 1, Adaptivity: job.Rigid, Target: r.target, Batch: job.BatchLimits{Init: 1, Max: 1}, BatchSize: 1}
		if r.change != nil {
			r.change(spec)
		}
		j := &policy.Job{Spec: spec, Perf: linear(1), Limits: &spec.Batch}
		j.Phase, j.Submitted = job.Waiting, sim.Epoch.Add(time.Duration(i-100)*time.Second)
		if k, ok := c.Index(r.on); ok {
			j.Phase, j.FirstStarted = job.Running, j.Submitted
			j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: r.gpus, GPUType: c.Nodes()[k].GPUType}
			j.Placement = cluster.Placement{{Node: r.on, Resources: cluster.Resources{GPUs: r.gpus}}}
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

// unblock returns the cheapest change of a recorded round.
func unblock(t *testing.T, r *journal.Reader, of whatif.Moment, o whatif.Options) (*counterfactual.Change, error) {
	t.Helper()
	round, err := whatif.RoundOf(t.Context(), r, of, o)
	if err != nil {
		return nil, err
	}
	return round.Unblock(t.Context(), nil)
}

// TestUnblock decides rounds of a recorded run again: what is told gives a job that waits GPUs.
func TestUnblock(t *testing.T) {
	text := mixed(t, 12).record(t, "fifo")
	waits := waiting(t, text)
	c, err := unblock(t, reader(t, text), waits, options("fifo"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Kind == counterfactual.NothingHelps || c.Gets.IsZero() {
		t.Errorf("job %s at %v: got %q, want a change that gives it GPUs", waits.Job, waits.At, c)
	}
}

// TestUnblock_agrees_with_the_start: in a crowded run of first come, first served, the end that would help comes when the job is to
// start, mostly.
func TestUnblock_agrees_with_the_start(t *testing.T) {
	if testing.Short() {
		t.Skip("decides many rounds again")
	}
	r := mixed(t, 40)
	for i := range r.arrivals {
		r.arrivals[i].At /= 8
	}
	text := r.record(t, "fifo")
	var moments []whatif.Moment
	for rec, err := range reader(t, text).Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Round == nil {
			continue
		}
		for _, d := range rec.Round.Changed {
			if d.Allocation.IsZero() {
				moments = append(moments, whatif.Moment{Job: d.Job, At: rec.At})
			}
		}
	}
	first := moments[len(moments)/2]
	round, err := whatif.RoundOf(t.Context(), reader(t, text), first, options("fifo"))
	if err != nil {
		t.Fatal(err)
	}
	all := round.Expect(t.Context())
	ends, agree, of := whatif.Ends(all, 0), 0, 0
	s, _ := round.Decided()
	for _, j := range s.Jobs {
		start := all[j.ID].Start
		if j.Holding() || start.Why != whatif.Known || start.Late == 0 || of == 6 {
			continue
		}
		then, err := whatif.RoundOf(t.Context(), reader(t, text), whatif.Moment{Job: j.ID, At: first.At}, options("fifo"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := then.Unblock(t.Context(), ends)
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind != counterfactual.JobsEnd {
			continue
		}
		in := time.Duration(0) // as Until has it, if such estimates were reliable so far
		for _, id := range c.Jobs {
			in = max(in, all[id].End.Likely)
		}
		if of++; in >= start.Early && in <= start.Late {
			agree++
		}
	}
	if of < 3 || 3*agree < 2*of {
		t.Errorf("of %d changes %d come when the job is to start, want 3 changes and two thirds", of, agree)
	}
}

// waiting returns the first moment of a recording at which a round leaves a job without GPUs.
func waiting(t *testing.T, text []byte) whatif.Moment {
	t.Helper()
	for rec, err := range reader(t, text).Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Round == nil {
			continue
		}
		for _, d := range rec.Round.Changed {
			if d.Allocation.IsZero() && d.Why.Kind == policy.WaitNoCapacity {
				return whatif.Moment{Job: d.Job, At: rec.At}
			}
		}
	}
	t.Fatal("no job waits")
	return whatif.Moment{}
}

func TestUnblock_says_what_is_wrong(t *testing.T) {
	if testing.Short() {
		t.Skip("decides many rounds again")
	}
	text := mixed(t, 12).record(t, "fifo")
	waits := waiting(t, text)
	if _, err := unblock(t, reader(t, text), whatif.Moment{Job: "x", At: waits.At}, options("fifo")); !errors.Is(err, whatif.ErrUndecided) {
		t.Errorf("a job that is not there: got %v, want that no plan has it", err)
	}
	if _, err := unblock(t, reader(t, text), whatif.Moment{Job: waits.Job}, options("fifo")); !errors.Is(err, whatif.ErrUndecided) {
		t.Errorf("before the first round: got %v, want that no plan has it", err)
	}
	if _, err := unblock(t, reader(t, text), waits, options("srtf")); err == nil {
		t.Error("another policy decided otherwise, and nobody noticed")
	}
}

// A policy that weighs jobs says what one counted in a recorded round; others say nothing.
func TestWeighed(t *testing.T) {
	if testing.Short() {
		t.Skip("decides many rounds again")
	}
	for name, want := range map[string]bool{"oxgang": true, "fifo": false} {
		text := mixed(t, 40).record(t, name)
		round, err := whatif.RoundOf(t.Context(), reader(t, text), waiting(t, text), options(name))
		if err != nil {
			t.Fatal(err)
		}
		if x, ok := round.Weighed(t.Context()); ok != want || want && !(x.Weight > 0 && x.Mean > 0 && x.Rank > 0) {
			t.Errorf("%s: %+v, %v", name, x, ok)
		}
	}
}

func (linear) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// TestUnblock_between_rounds: of a moment between two rounds, what has ended since the first of them need not end any more, and times
// count from the moment.
func TestUnblock_between_rounds(t *testing.T) {
	if testing.Short() {
		t.Skip("replays a run for each job that waits")
	}
	r := mixed(t, 24)
	for i := range r.arrivals { // they wait for one another
		r.arrivals[i].At /= 8
	}
	text := r.record(t, "fifo")
	unblocked := func(of whatif.Moment) (*counterfactual.Change, time.Duration) {
		round, err := whatif.RoundOf(t.Context(), reader(t, text), of, options("fifo"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := round.Unblock(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return c, round.Passed()
	}
	head, last, found := job.ID(""), time.Duration(0), 0
	for rec, err := range reader(t, text).Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Round != nil {
			last = rec.At
			for _, d := range rec.Round.Changed {
				switch {
				case d.Why.Kind == policy.WaitNoCapacity && d.Allocation.IsZero():
					head = d.Job
				case d.Job == head:
					head = ""
				}
			}
		}
		gone, ok := rec.Event.(scheduler.Exited)
		if !ok || head == "" || rec.At == last {
			continue
		}
		was, _ := unblocked(whatif.Moment{Job: head, At: last})
		if was.Kind != counterfactual.JobsEnd || len(was.Jobs) != 1 || was.Jobs[0] != gone.Job {
			continue
		}
		found++
		if is, passed := unblocked(whatif.Moment{Job: head, At: rec.At}); is.Kind != counterfactual.NoChange || passed != rec.At-last {
			t.Errorf("job %s waits for the end of %s, which came at %v: %q, %v after the round; want no change, %v", head, gone.Job, rec.At, is, passed, rec.At-last)
		}
	}
	if found == 0 {
		t.Error("no end gave a job GPUs")
	}
}
