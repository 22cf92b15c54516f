package driver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
)

// broken is a policy that fails.
type broken struct{}

func (broken) Traits() policy.Traits { return policy.Traits{} }

func (broken) Plan(context.Context, *policy.Snapshot) (*policy.Plan, error) {
	return nil, errors.New("no basis")
}

// TestHealth_says_that_the_policy_fails, and when the fallback plans in its place.
func TestHealth_says_that_the_policy_fails(t *testing.T) {
	f, err := fallback.New(broken{}, fallback.DefaultOptions(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	w := &health{policy: f, clockMoved: func() time.Duration { return 0 }}
	s := &policy.Snapshot{Now: time.Now(), Cluster: testCluster(t), Length: time.Minute}
	for i, want := range []string{"running jobs continue unchanged: no basis", "running jobs continue", "failed 3 times in a row; jobs are scheduled first in, first out until it works again: no basis"} {
		p, err := f.Plan(t.Context(), s)
		if err != nil {
			p = &policy.Plan{Refused: err.Error()}
		}
		w.Round(s, p, nil)
		if got := w.trouble(); !strings.Contains(got, want) {
			t.Errorf("failure %d: %q, want %q", i+1, got, want)
		}
	}
}

func testCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "h100", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
