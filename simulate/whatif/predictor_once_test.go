package whatif

import (
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
