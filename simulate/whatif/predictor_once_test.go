package whatif

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
)

// A look ahead that fails is not tried again until the next round: others wait for it.
func TestLook_is_tried_once_a_round(t *testing.T) {
	tries := 0
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	l := NewPredictor(func() (policy.Policy, placement.Placer, error) {
		tries++
		return nil, nil, errors.New("no policy")
	}, scheduler.DefaultOptions(), c.Types())
	for range 2 {
		row := &policy.Job{Spec: &job.Spec{ID: "job", GPUs: 1}, Status: job.Status{Phase: job.Waiting}}
		l.Round(&policy.Snapshot{Length: time.Minute, Cluster: c, Jobs: []*policy.Job{row}}, &policy.Plan{Jobs: make([]policy.Decision, 1)}, nil)
		before := tries
		l.Look(t.Context())
		once := tries
		l.Look(t.Context())
		if once == before || tries != once {
			t.Errorf("%d tries, then %d more, want some and none", once-before, tries-once)
		}
	}
}

// TestLookFor_waits_no_longer: while somebody else simulates, a caller gets the earlier prediction when its time is up. A
// simulation that was cut short does not replace one that had more time, and is not repeated in as much time.
func TestLookFor_waits_no_longer(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	l := NewPredictor(nil, scheduler.DefaultOptions(), c.Types())
	s := &policy.Snapshot{Now: time.Unix(9, 0), Length: time.Minute, Cluster: c}
	l.Round(s, &policy.Plan{}, nil)
	l.adopt(s, nil, 3*time.Second)
	l.one <- struct{}{}
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	later := *s
	later.Now = s.Now.Add(time.Minute)
	later.Jobs = []*policy.Job{{Spec: &job.Spec{ID: "new", GPUs: 1}, Status: job.Status{Phase: job.Waiting}}}
	l.Round(&later, &policy.Plan{Jobs: make([]policy.Decision, 1)}, nil)
	all, at := l.LookFor(soon)
	if !at.Equal(s.Now) || all["new"].Start.Why != TooLong || all["new"].End.Why != TooLong {
		t.Errorf("%v as of %v, want the earlier prediction, and nothing of the new job", all, at)
	}
	later.Jobs = nil
	if l.adopt(&later, nil, time.Second) {
		t.Error("a simulation of 1 s replaced one of 3 s")
	}
	if !l.adopt(&later, nil, unlimited) {
		t.Error("a complete simulation did not replace one of 3 s")
	}
}
