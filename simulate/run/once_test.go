package run

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
)

// A run to which alone its inputs belong takes their arrivals away, and is to the last byte of
// journal and results the run that leaves them.
func TestWatch_Once(t *testing.T) {
	if testing.Short() {
		t.Skip("plays each run twice")
	}
	for _, policy := range append(draws.Some(t, 3, registry.Names()), "fifo", "sia") {
		for _, fairness := range []string{"", "static"} {
			t.Run(fmt.Sprintf("%s, %q", policy, fairness), func(t *testing.T) {
				left, kept := once(t, policy, fairness, false)
				taken, none := once(t, policy, fairness, true)
				if kept != 40 || none != 0 {
					t.Errorf("%d arrivals left, and %d where they are the run's own, want 40 and none", kept, none)
				}
				if left != taken {
					t.Error("journal or results are others where arrivals are taken away")
				}
			})
		}
	}
}

// once returns a run's journal and results, and how many arrivals its inputs then have.
func once(t *testing.T, policy, fairness string, own bool) (text string, left int) {
	t.Helper()
	c := config.Default()
	c.Cluster, c.Horizon, c.Fairness.Rho = "t4:8x4,a100:3x8", 40*time.Hour, fairness
	c.Generate.Kind, c.Generate.Jobs, c.OnBadRow = "philly-like", 40, "skip"
	text, in := written(t, c, policy, Watch{Once: own})
	return text, len(in.Arrivals)
}
