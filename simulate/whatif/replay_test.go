package whatif_test

import (
	"context"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// TestReplay: a recorded run's decisions come out again, with their reasons, prices and stats,
// and those of another policy differ.
func TestReplay(t *testing.T) {
	r := mixed(t, 12)
	o := options("sia")
	o.Scheduler = r.scheduler
	var text []byte
	for _, name := range []string{"gavel", "shockwave", "themis", "lyra", "sia"} {
		text = r.record(t, name)
		o.Fresh = fresh(name)
		same, err := whatif.Replay(t.Context(), reader(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		if same.First != nil || same.Differing != 0 || same.Rounds < 50 || same.Asked < 12 {
			t.Errorf("%s: %d rounds, %d actions, %d rounds differ: %v; want some of each, and no difference", name, same.Rounds, same.Asked, same.Differing, same.First)
		}
	}
	o.Fresh = fresh("fifo")
	other, err := whatif.Replay(t.Context(), reader(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	if other.First == nil || other.Differing != 1 {
		t.Errorf("fifo decides as sia: %+v, want the first difference", other)
	}
}

// TestReplay_of_another_reason: a policy that does the same for another reason is found, unless
// actions are compared alone.
func TestReplay_of_another_reason(t *testing.T) {
	r := mixed(t, 12)
	o := options("fifo")
	o.Scheduler = r.scheduler
	text := r.record(t, "fifo")
	o.Fresh = func() (policy.Policy, placement.Placer, error) {
		p, placer, err := fresh("fifo")()
		return &excuses{p}, placer, err
	}
	got, err := whatif.Replay(t.Context(), reader(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	if got.First == nil || got.First.Round != 9 || got.First.Job == "" || got.First.Field != "reason" {
		t.Errorf("got %+v, want another reason in round 9", got.First)
	}
	o.ActionsAlone = true
	if got, err = whatif.Replay(t.Context(), reader(t, text), o); err != nil || got.First != nil || got.Rounds < 50 {
		t.Errorf("actions alone: got %+v and %v, want no difference", got, err)
	}
}

// excuses gives another reason in round 9.
type excuses struct{ policy.Policy }

func (e *excuses) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p, err := e.Policy.Plan(ctx, s)
	if err == nil && s.Round == 9 {
		p.Jobs[len(p.Jobs)-1].Why.Value++
	}
	return p, err
}

// TestReplay_of_a_cut_journal: what there is is compared.
func TestReplay_of_a_cut_journal(t *testing.T) {
	r := mixed(t, 12)
	text := r.record(t, "srtf")
	o := options("srtf")
	o.Scheduler = r.scheduler
	got, err := whatif.Replay(t.Context(), reader(t, text[:len(text)/2]), o)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Truncated || got.First != nil || got.Rounds == 0 {
		t.Errorf("got %+v, want a cut journal without difference", got)
	}
}

// TestReplay_catches_a_changed_recording: a bug seeded into the recording, one action that is
// left out, is found where it is.
func TestReplay_catches_a_changed_recording(t *testing.T) {
	r := mixed(t, 12)
	o := options("fifo")
	o.Scheduler = r.scheduler
	forgetful := func() (policy.Policy, placement.Placer, error) {
		p, placer, err := fresh("fifo")()
		return &forgets{Policy: p}, placer, err
	}
	text := r.record(t, "fifo")
	o.Fresh = forgetful
	got, err := whatif.Replay(t.Context(), reader(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	if got.First == nil || got.First.Round != 9 || got.First.Job == "" {
		t.Errorf("got %+v, want a difference in round 9", got.First)
	}
}

// forgets grants nothing in round 9.
type forgets struct{ policy.Policy }

func (f *forgets) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p, err := f.Policy.Plan(ctx, s)
	if err == nil && s.Round == 9 {
		for i := range p.Jobs {
			p.Jobs[i] = policy.Decision{}
		}
	}
	return p, err
}

var _ scheduler.Observer = (*whatif.Learner)(nil)
