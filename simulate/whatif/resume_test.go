package whatif_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/whatif"
)

func (r *run) checkpointed(t *testing.T, name string, every int64) (*journal.File, []byte) {
	return r.watched(t, name, every, nil)
}

// watched is checkpointed; if there is a function, it is called after each round with the time of that, and the
// Checkpointer looks ahead.
func (r *run) watched(t *testing.T, name string, every int64, after func(*whatif.Checkpointer, time.Duration)) (*journal.File, []byte) {
	t.Helper()
	p, placer, err := fresh(name)()
	if err != nil {
		t.Fatal(err)
	}
	world, err := sim.New(r.cluster, r.catalog, r.arrivals, r.world)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduler.New(p, placer, r.cluster, r.scheduler)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, journal.Header{Tool: "test", Policy: name, Seed: r.world.Seed, Start: sim.Epoch, Round: r.scheduler.Round, Cluster: r.cluster})
	all := whatif.Run{Scheduler: s, Policy: p, Placer: placer, Options: r.scheduler, Cluster: r.cluster}
	if after != nil {
		all.Fresh = fresh(name)
	}
	c := whatif.NewCheckpointer(all, w)
	c.Every(every)
	each := &rounds{func(now time.Time) {
		if after != nil {
			after(c, now.Sub(sim.Epoch))
		}
	}}
	if err := errors.Join(s.Run(t.Context(), world, w, c, each), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := journal.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f, out.Bytes()
}

type rounds struct{ each func(time.Time) }

func (*rounds) Event(time.Time, scheduler.Event) {}

func (r *rounds) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) { r.each(s.Now) }

// said is all that RoundIn says of a job, but for ranges.
type said struct {
	Round  int
	Jobs   []job.Status
	Plan   []policy.Decision
	Prices []policy.TypePrice
	Terms  policy.Terms
	Change string
	Err    string
}

func told(t *testing.T, r *whatif.Round, err error) said {
	t.Helper()
	if err != nil {
		return said{Err: err.Error()}
	}
	s, p := r.Decided()
	all := said{Round: s.Round, Plan: p.Jobs, Prices: p.Prices}
	for _, j := range s.Jobs {
		all.Jobs = append(all.Jobs, j.Status)
	}
	all.Terms, _ = r.Weighed(t.Context())
	if c, err := r.Unblock(t.Context(), nil); err == nil {
		all.Change = c.String()
	}
	return all
}

// unwritten are policies whose memory no checkpoint has: an explanation of a moment replays all that is before.
var unwritten = map[string]bool{"boa": true}

// TestRoundIn_is_RoundOf: from the last checkpoint, a policy decides what it does after a replay from the start. Equal runs give equal bytes, with checkpoints, too. With -short a quarter
// of the policies are looked at.
func TestRoundIn_is_RoundOf(t *testing.T) {
	all := registry.Policies()
	for _, e := range draws.Some(t, len(all), all) {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			r := mixed(t, 16)
			if e.Traits().Classes {
				r.scheduler.Classes = true
			}
			f, text := r.checkpointed(t, e.Name, 20_000)
			if _, again := r.checkpointed(t, e.Name, 20_000); !bytes.Equal(text, again) {
				t.Error("equal runs gave other bytes")
			}
			marks, err := f.Marks(1000 * time.Hour)
			if err != nil || len(marks) < 3 {
				t.Fatalf("%d checkpoints in %d bytes, and %v; want some", len(marks), len(text), err)
			}
			for _, mark := range marks {
				if _, c, err := f.From(mark); err != nil || len(c.Memory) == 0 && !unwritten[e.Name] {
					t.Errorf("the checkpoint at %v remembers nothing (%v): readers replay all that is before", mark.At, err)
				}
			}
			o := options(e.Name)
			o.Scheduler = r.scheduler
			known := 0
			for i, id := range []job.ID{"j03", "j07", "j11"} {
				of := whatif.Moment{Job: id, At: marks[(i+1)*(len(marks)-1)/5].At + time.Duration(i)*5*time.Minute}
				whole, err := whatif.RoundFromStart(t.Context(), f, of, o)
				want := told(t, whole, err)
				part, err := whatif.RoundIn(t.Context(), f, of, o)
				if diff := cmp.Diff(want, told(t, part, err)); diff != "" {
					t.Errorf("%s at %v: %s", id, of.At, diff)
				}
				if want.Err == "" {
					known++
				}
			}
			if known == 0 {
				t.Error("none of the moments is known: nothing was compared")
			}
		})
	}
}

// lasting makes every job one that is known by its duration, so that it reports nothing while it runs.
func (r *run) lasting(t *testing.T) {
	t.Helper()
	for i := range r.arrivals {
		a := &r.arrivals[i]
		a.Application, a.Duration = "", time.Duration(20+7*i)*time.Minute
		a.Spec = job.Spec{ID: a.Spec.ID, GPUs: a.Spec.GPUs, Adaptivity: job.Rigid}
		if err := r.catalog.Complete(a); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRoundIn_after_rounds_of_few: in a run whose policy was shown only jobs that may not simply go on (scheduler.Options.Lean), checkpoints
// are those of a run whose policy was shown all; from each, a scheduler that is shown all decides what one does that replays from the start.
func TestRoundIn_after_rounds_of_few(t *testing.T) {
	if testing.Short() {
		t.Skip("resumes hundreds of times")
	}
	for _, e := range registry.Policies() {
		if !e.Traits().Keeps {
			continue
		}
		r := mixed(t, 60)
		r.lasting(t)
		_, whole := r.checkpointed(t, e.Name, 4000)
		r.scheduler.Lean = true
		f, few := r.checkpointed(t, e.Name, 4000)
		if !bytes.Equal(whole, few) {
			t.Fatalf("%s: the policy remembers jobs that were left out of a round", e.Name)
		}
		marks, err := f.Marks(1000 * time.Hour)
		if err != nil || len(marks) < 10 {
			t.Fatalf("%s: %d checkpoints in %d bytes, and %v; want at least 10", e.Name, len(marks), len(few), err)
		}
		o, known := options(e.Name), 0
		o.Scheduler = r.scheduler
		o.Scheduler.Lean = false
		for m, mark := range marks {
			for n := range 8 {
				of := whatif.Moment{Job: job.ID(fmt.Sprintf("j%02d", (m+n*8)%60)), At: mark.At + time.Duration(1+n)*time.Minute}
				start, err := whatif.RoundFromStart(t.Context(), f, of, o)
				want := told(t, start, err)
				if want.Err != "" && !errors.Is(err, whatif.ErrUndecided) { // that is said of a job that is not there
					t.Errorf("%s: %s at %v: %s", e.Name, of.Job, of.At, want.Err)
				}
				if want.Err != "" {
					continue
				}
				known++
				part, err := whatif.RoundIn(t.Context(), f, of, o)
				if diff := cmp.Diff(want, told(t, part, err)); diff != "" {
					t.Errorf("%s: %s at %v: %s", e.Name, of.Job, of.At, diff)
				}
			}
		}
		if t.Logf("%s: %d of %d moments after %d checkpoints are known", e.Name, known, 8*len(marks), len(marks)); known < 100 {
			t.Errorf("%s: %d moments are known, want at least 100", e.Name, known)
		}
	}
}

// TestRoundIn_expects_what_the_run_did: ranges of a recorded moment are those that the run itself would have stated then, by
// the errors of its predictions until then.
func TestRoundIn_expects_what_the_run_did(t *testing.T) {
	for _, name := range []string{"fifo", "sia", "las", "oxgang"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := 0 // how many of the ranges go by what became of earlier ones
			for _, at := range []time.Duration{20 * time.Minute, 47 * time.Minute, 80 * time.Minute, 2 * time.Hour} {
				r := mixed(t, 16)
				var want map[job.ID]whatif.ETA
				f, _ := r.watched(t, name, 20_000, func(c *whatif.Checkpointer, now time.Duration) {
					if want == nil && now >= at {
						want = c.Expect(t.Context())
						at = now
					}
				})
				o := options(name)
				o.Scheduler = r.scheduler
				round, err := whatif.RoundIn(t.Context(), f, whatif.Moment{Job: "j03", At: at}, o)
				if errors.Is(err, whatif.ErrUndecided) { // it has ended
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				got := round.Expect(t.Context())
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("at %v: %s", at, diff)
				}
				for _, eta := range got {
					of += eta.Start.Of + eta.End.Of
				}
			}
			if of == 0 {
				t.Error("no range goes by what became of earlier ones: nothing was compared")
			}
		})
	}
}

// TestRoundIn_begins_at_a_checkpoint: what is before it is not read.
func TestRoundIn_begins_at_a_checkpoint(t *testing.T) {
	r := mixed(t, 12)
	f, text := r.checkpointed(t, "sia", 20_000)
	marks, err := f.Marks(1000 * time.Hour)
	if err != nil || len(marks) < 3 {
		t.Fatalf("%d checkpoints, %v", len(marks), err)
	}
	_, header, _ := bytes.Cut(text, []byte("\n"))
	spoiled := bytes.Clone(text)
	at := len(text) - len(header)
	copy(spoiled[at:at+200], bytes.Repeat([]byte("#"), 200))
	damaged, err := journal.OpenFile(bytes.NewReader(spoiled), int64(len(spoiled)))
	if err != nil {
		t.Fatal(err)
	}
	o := options("sia")
	o.Scheduler = r.scheduler
	of := whatif.Moment{Job: "j11", At: marks[len(marks)-1].At + 3*time.Minute}
	if _, err := whatif.RoundIn(t.Context(), damaged, of, o); err != nil && !errors.Is(err, whatif.ErrUndecided) {
		t.Errorf("from the checkpoint: %v", err)
	}
	if _, err := whatif.RoundFromStart(t.Context(), damaged, of, o); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("from the start: got %v, want that the journal was changed", err)
	}
}

// TestRoundIn_without_memory: a checkpoint of another policy is passed over.
func TestRoundIn_without_memory(t *testing.T) {
	r := mixed(t, 12)
	f, _ := r.checkpointed(t, "sia", 20_000)
	o := options("sia")
	o.Scheduler = r.scheduler
	of := whatif.Moment{Job: "j07", At: time.Hour}
	part, err := whatif.RoundIn(t.Context(), f, of, o)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := part.Decided()
	o.Fresh = func() (policy.Policy, placement.Placer, error) {
		p, placer, err := fresh("sia")()
		return &other{Policy: p}, placer, err
	}
	whole, err := whatif.RoundIn(t.Context(), f, of, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := whole.Decided(); got.Round != want.Round {
		t.Errorf("got round %d, want %d", got.Round, want.Round)
	}
}

type other struct{ policy.Policy }
