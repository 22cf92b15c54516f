package whatif_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A turner begins a part with every second checkpoint.
type turner struct {
	*journal.Writer
	parts  []*bytes.Buffer
	count  int
	forget bool // the checkpoints remember nothing
}

// Checkpoint implements whatif.Journal.
func (p *turner) Checkpoint(now time.Time, m *scheduler.Memory, memory []byte) {
	if p.forget {
		memory = []byte("of another version")
	}
	if p.count++; p.count%2 == 1 {
		p.Writer.Checkpoint(now, m, memory)
		return
	}
	p.parts = append(p.parts, new(bytes.Buffer))
	if err := p.Part(p.parts[len(p.parts)-1], now, m, memory); err != nil {
		panic(err)
	}
}

func (r *run) inParts(t *testing.T, name string, forget bool) []journal.Source {
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
	w := &turner{Writer: journal.NewWriter(&out, journal.Header{Tool: "test", Policy: name, Seed: r.world.Seed, Start: sim.Epoch, Round: r.scheduler.Round, Cluster: r.cluster}), forget: forget}
	c := whatif.NewCheckpointer(whatif.Run{Scheduler: s, Policy: p, Placer: placer, Options: r.scheduler, Cluster: r.cluster}, w)
	c.Every(20_000)
	if err := errors.Join(s.Run(t.Context(), world, w, c), w.Close()); err != nil {
		t.Fatal(err)
	}
	all := []journal.Source{{ReaderAt: bytes.NewReader(out.Bytes()), Size: int64(out.Len())}}
	for _, part := range w.parts {
		all = append(all, journal.Source{ReaderAt: bytes.NewReader(part.Bytes()), Size: int64(part.Len())})
	}
	if len(all) < 3 {
		t.Fatalf("%d parts, want some", len(all))
	}
	return all
}

// TestReplay_from_a_part: without its first parts a journal replays, exactly, and a round in what is left is decided as
// it was.
func TestReplay_from_a_part(t *testing.T) {
	for _, name := range []string{"fifo", "las", "sia", "oxgang", "synergy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mixed(t, 16)
			parts := r.inParts(t, name, false)
			o := options(name)
			o.Scheduler = r.scheduler
			whole := open(t, parts)
			all := replay(t, whole, o)
			k := len(parts) / 2
			left := open(t, parts[k:])
			got := replay(t, left, o)
			if all.First != nil || got.First != nil || got.Rounds < 10 || got.Rounds >= all.Rounds || got.Truncated {
				t.Errorf("replayed %d rounds of %d, differences %v and %v", got.Rounds, all.Rounds, got.First, all.First)
			}
			marks, err := left.Marks(1000 * time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range []job.ID{"j07", "j11", "j15"} {
				of := whatif.Moment{Job: id, At: marks[len(marks)-1].At + 5*time.Minute}
				was, err := whatif.RoundIn(t.Context(), whole, of, o)
				want := told(t, was, err)
				is, err := whatif.RoundIn(t.Context(), left, of, o)
				if diff := cmp.Diff(want, told(t, is, err)); diff != "" {
					t.Errorf("%s: %s", id, diff)
				}
			}
		})
	}
}

func open(t *testing.T, parts []journal.Source) *journal.File {
	t.Helper()
	f, err := journal.OpenParts(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func replay(t *testing.T, f *journal.File, o whatif.Options) *whatif.Replayed {
	t.Helper()
	r, err := f.Start()
	if err != nil {
		t.Fatal(err)
	}
	found, err := whatif.Replay(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestReplay_from_a_part_of_another_version says what is wrong; what was recorded can still be simulated.
func TestReplay_from_a_part_of_another_version(t *testing.T) {
	r := mixed(t, 16)
	parts := r.inParts(t, "las", true)
	o := options("las")
	o.Scheduler = r.scheduler
	left := open(t, parts[1:])
	j, err := left.Start()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := whatif.Replay(t.Context(), j, o); err == nil || !strings.Contains(err.Error(), "this program cannot continue from the checkpoint") {
		t.Errorf("replayed: %v", err)
	}
	marks, err := left.Marks(1000 * time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	of := whatif.Moment{Job: "j11", At: marks[len(marks)-1].At + 5*time.Minute}
	if _, err := whatif.RoundIn(t.Context(), left, of, o); err == nil || !strings.Contains(err.Error(), "this program cannot continue from the checkpoint") {
		t.Errorf("decided again: %v", err)
	}
	if j, err = left.Start(); err != nil {
		t.Fatal(err)
	}
	if f, err := whatif.Compare(t.Context(), j, o); err != nil || len(f.Jobs) == 0 || f.Restored == 0 {
		t.Errorf("compared %+v, %v", f, err)
	}
	whole := open(t, parts)
	if found := replay(t, whole, o); found.First != nil {
		t.Errorf("from the start: %v", found.First)
	}
}

// TestCheckpointer_waits: there is no checkpoint while the policy may still be at an earlier round, and one after the
// first round for which a checkpoint is due, however short the journal is.
func TestCheckpointer_waits(t *testing.T) {
	r := mixed(t, 4)
	p, placer, err := fresh("las")()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduler.New(p, placer, r.cluster, r.scheduler)
	if err != nil {
		t.Fatal(err)
	}
	w := &turner{Writer: journal.NewWriter(new(bytes.Buffer), journal.Header{Tool: "test", Policy: "las", Start: sim.Epoch, Round: r.scheduler.Round, Cluster: r.cluster})}
	c := whatif.NewCheckpointer(whatif.Run{Scheduler: s, Policy: p, Placer: placer, Options: r.scheduler, Cluster: r.cluster}, w)
	busy, due := false, false
	c.Busy, c.Due = func() bool { return busy }, func(time.Time) bool { return due }
	round := func(want int, what string) {
		t.Helper()
		if c.Round(&policy.Snapshot{Now: sim.Epoch.Add(time.Minute)}, &policy.Plan{}, nil); w.count != want {
			t.Errorf("%s: %d checkpoints, want %d", what, w.count, want)
		}
	}
	round(0, "nothing is due")
	due, busy = true, true
	round(0, "the policy is busy")
	busy = false
	round(1, "due")
}
