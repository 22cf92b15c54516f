package explain

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// TestOverviewIn_is_At: of every job the overview says what its own page says, at times of a new seed, with and without
// checkpoints, while nodes fail and jobs move; and GPUs that nobody holds are those that are free.
func TestOverviewIn_is_At(t *testing.T) {
	seed := draws.Seed(t)
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	for _, text := range [][]byte{checkpointed(t, "oxgang", clusters[""]), checkpointed(t, "las", clusters[""]), overloaded(t, "sia", "3")} {
		f := opened(t, text)
		marks, err := f.Marks(3 * time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			at := time.Duration(draw.Int64N(int64(3 * time.Hour))).Round(time.Second)
			if i%2 == 0 && len(marks) > 0 { // directly after a checkpoint
				at = marks[draw.IntN(len(marks))].At + time.Duration(draw.IntN(30))*time.Second
			}
			s, err := OverviewIn(f, at)
			if err != nil {
				t.Fatal(err)
			}
			at = time.Duration(s.At)
			if got, want := len(s.Jobs), there(t, text, at); got != want {
				t.Errorf("%d jobs at %v, want %d", got, at, want)
			}
			for range min(3, len(s.Jobs)) {
				sameAsPage(t, text, &s.Jobs[draw.IntN(len(s.Jobs))], at)
			}
			free := map[string]int{}
			for _, n := range s.Nodes {
				free[string(n.Type)] += n.GPUs
				for _, h := range n.Held {
					free[string(n.Type)] -= h.GPUs
				}
			}
			for _, v := range s.Types {
				if free[string(v.Type)] != v.Free {
					t.Errorf("at %v: %d %s GPUs without a job, %d are free", at, free[string(v.Type)], v.Type, v.Free)
				}
			}
		}
	}
}

// there returns how many jobs there are at a time, read from the start.
func there(t *testing.T, text []byte, at time.Duration) int {
	t.Helper()
	r := journalOf(t, text)
	w := newClusterState(r.Header())
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.At > at {
			break
		}
		if rec.Event != nil {
			w.event(rec.Event)
		}
	}
	return len(w.jobs)
}

// A job that gets other GPUs while it trains on, or at no cost, does not restart.
func TestOverview_of_a_resize(t *testing.T) {
	r := journalOf(t, overloaded(t, "sia", "3"))
	for _, c := range []struct {
		run  scheduler.Run
		want job.Phase
	}{{scheduler.Run{Resized: true}, job.Running}, {scheduler.Run{Free: true}, job.Running}, {scheduler.Run{}, job.Restoring}} {
		s := newOverviewReader(r.Header(), nil)
		s.take(&journal.Record{Event: scheduler.Submitted{Spec: &job.Spec{ID: "a"}}})
		run := scheduler.Run{Job: "a", Allocation: cluster.Allocation{Configuration: config(1, 1, "t4")}}
		s.take(&journal.Record{Round: &journal.Round{Actions: []scheduler.Action{run}}})
		s.take(&journal.Record{Event: scheduler.Reported{Report: job.Report{Job: "a"}}})
		c.run.Job, c.run.Allocation = "a", cluster.Allocation{Configuration: config(1, 2, "t4")}
		s.take(&journal.Record{At: time.Minute, Round: &journal.Round{Actions: []scheduler.Action{c.run}}})
		if l := s.all["a"]; l.phase != c.want || l.since != time.Minute {
			t.Errorf("%v since %v, want %v since a minute", l.phase, l.since, c.want)
		}
	}
}

func sameAsPage(t *testing.T, text []byte, j *OverviewJob, at time.Duration) {
	t.Helper()
	story, err := At(journalOf(t, text), j.ID, at)
	if err != nil {
		t.Fatal(err)
	}
	m := story.Moment
	if m.Holds != nil { // an overview has no CPUs and memory of jobs
		m.Holds.CPUs, m.Holds.Memory = 0, 0
	}
	phase := j.Phase
	if m.Phase == "profiling" || phase == "profiling" { // the page knows what came later
		phase = m.Phase
	}
	since := j.Submitted // a page counts from the end of profiles
	if m.Starts > 0 && m.Since != nil {
		since = *m.Since
	}
	if m.Ended || phase != m.Phase || j.Since != since || j.Reason != m.Reason || max(0, m.Starts-1) != j.Restarts || story.Asked != j.Asked {
		t.Errorf("%s at %v: %s since %v, %s, %d restarts in the overview; page %s since %v, %s, %d starts", j.ID, at, j.Phase, time.Duration(j.Since), j.Reason, j.Restarts, m.Phase, time.Duration(since), m.Reason, m.Starts)
	}
	if diff := cmp.Diff(m.Holds, j.Holds); diff != "" {
		t.Errorf("%s at %v: %s", j.ID, at, diff)
	}
	if why, _, _ := strings.Cut(strings.TrimPrefix(j.Sentence, "preempted: "), ";"); m.Phase != "profiling" && !strings.Contains(m.Sentence, why) && !tellsLast(why, m.Sentence) {
		t.Errorf("%s at %v: %q in the overview, page %q", j.ID, at, j.Sentence, m.Sentence)
	}
}

// tellsLast reports whether a page has the reason of the last change, because the present one says only that nothing
// has changed since.
func tellsLast(why, page string) bool {
	switch {
	case why == keepsGPUs:
		return strings.Contains(page, ". It ")
	case strings.HasPrefix(why, "it is starting or restoring its checkpoint"):
		return strings.Contains(page, "starting")
	}
	return false
}

// Overviews says what OverviewIn says, whatever was asked before: forward, back, and across checkpoints.
func TestOverviews(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 0))
	for _, text := range [][]byte{checkpointed(t, "oxgang", clusters[""]), overloaded(t, "sia", "3")} {
		f := opened(t, text)
		o := &Overviews{File: f}
		for i := range 40 {
			if i == 30 {
				o = &Overviews{File: f, most: 10} // too few for anything
			}
			at := time.Duration(draw.Int64N(int64(4 * time.Hour)))
			if i%3 > 0 {
				at = o.last * time.Duration(i) / 40
			}
			want, err := OverviewIn(f, at)
			if err != nil {
				t.Fatal(err)
			}
			got, err := o.At(at)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("at %v: %s", at, diff)
			}
		}
		if !o.current.long || len(o.current.records) > 0 {
			t.Errorf("%d records are kept, want none: there are too many", len(o.current.records))
		}
	}
}
