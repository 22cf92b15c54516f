package sia_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/sia"
)

func TestPlan_allocates_little(t *testing.T) {
	p, err := sia.New(sia.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	policytest.RunLean(t, p)
}

// Rows are computed side by side where there are many: on any number of processors the plans are the same.
func TestPlan_is_the_same_on_any_number_of_processors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	one, err := sia.New(sia.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	four, _ := sia.New(sia.DefaultOptions())
	policytest.NewCrowd(t, 7000).Play(6, func(s *policy.Snapshot) *policy.Plan {
		var plans [2]*policy.Plan
		for i, p := range []*sia.Policy{one, four} {
			runtime.GOMAXPROCS(1 + 3*i)
			if plans[i], err = p.Plan(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := fmt.Sprintf("%+v", *plans[0]), fmt.Sprintf("%+v", *plans[1]); a != b {
			t.Fatalf("round %d: one processor plans\n%.2000s\nfour plan\n%.2000s", s.Round, a, b)
		}
		return plans[0]
	})
}

// broken panics when it is asked.
type broken struct{}

func (broken) Throughput(cluster.Allocation, job.BatchSize) float64 { panic("broken model") }
func (broken) Efficiency(float64) float64                           { return 1 }
func (broken) StepTime(cluster.Allocation) perf.StepTime            { return perf.StepTime{} }

// What panics on another goroutine panics on the caller's, which can recover.
func TestPlan_panics_where_its_caller_recovers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	p, err := sia.New(sia.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != "broken model" {
			t.Errorf("recovered %v, want the model's panic", r)
		}
	}()
	policytest.NewCrowd(t, 7000).Play(1, func(s *policy.Snapshot) *policy.Plan {
		row := *s.Jobs[0]
		row.Perf, s.Jobs[0] = broken{}, &row
		plan, err := p.Plan(t.Context(), s)
		t.Errorf("planned, error %v, want a panic", err)
		return plan
	})
}
