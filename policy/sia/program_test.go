package sia

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// The public code rounds costs to two decimals and clips them at 3000.
func TestProgram_rounds_costs(t *testing.T) {
	known := table{on(1, 1, "A"): 1, on(1, 1, "B"): 3, on(1, 2, "B"): 7}
	hopeless := waiting("k", known) // a restart loses all but a billionth
	hopeless.Restarts, hopeless.RestartOverhead = 1, hopeless.Age(epoch)-time.Microsecond
	for _, c := range []struct {
		name  string
		j     *policy.Job
		rules goodput.Rules
		want  map[cluster.Configuration]float64
	}{
		{"thesis", holding(waiting("j", known), on(1, 1, "A")), goodput.Rules{}, map[cluster.Configuration]float64{
			on(1, 1, "A"): 1.1 - 1, on(1, 1, "B"): 1.1 - 1/math.Sqrt(3), on(1, 2, "B"): 1.1 - 1/math.Sqrt(7),
		}},
		{"rounded", holding(waiting("j", known), on(1, 1, "A")), goodput.Rules{RoundCosts: true}, map[cluster.Configuration]float64{
			on(1, 1, "A"): 1.1 - 1, on(1, 1, "B"): 1.1 - 0.58, on(1, 2, "B"): 1.1 - 0.38,
		}},
		{"clipped", holding(hopeless, on(1, 1, "A")), goodput.Rules{RoundCosts: true}, map[cluster.Configuration]float64{
			on(1, 1, "A"): 1.1 - 1, on(1, 1, "B"): 1.1 - 3000, on(1, 2, "B"): 1.1 - 3000,
		}},
	} {
		o := DefaultOptions()
		o.Rules = c.rules
		if diff := cmp.Diff(c.want, values(t, newPolicy(t, o), snapshot(running(t), c.j), 0), close1e9); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
