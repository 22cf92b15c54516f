package metrics

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// pricedRound is a round whose plan says what GPUs of some types are worth.
func (s *script) pricedRound(t float64, v100, p100, t4 float64) {
	s.prices = []policy.TypePrice{{Type: "v100", Price: v100}, {Type: "p100", Price: p100}, {Type: "t4", Price: t4}, {Type: "gone", Price: 1000}}
	s.round(t)
	s.prices = nil
}

// pricedRun has 8 GPUs of type v100 and 4 of type p100; on loan it has 4 of type t4 from 60 s,
// and from 120 s 8 of type t4 and 8 of type v100, on three nodes.
func pricedRun(t *testing.T) *script {
	own := []cluster.Node{node("a", "v100", 8), node("b", "p100", 4)}
	wide := node("l2", "v100", 8)
	wide.Tenure, wide.Group = cluster.Loaned, "pool"
	s := begin(t, DefaultOptions(), own...)
	s.loans = pool(0, 0, 0.25)
	s.submit(0, "j")
	s.pricedRound(0, 9, 3, 1)
	s.lend(30, pool(1, 0, 0.25), own[0], own[1], lent("l0"))
	s.pricedRound(60, 3, 0, 1.5)
	s.lend(90, pool(3, 0, 0.25), own[0], own[1], lent("l0"), lent("l1"), wide)
	s.pricedRound(120, 6, 3, 0)
	s.round(180) // a plan without prices
	s.pricedRound(240, 0, 12, 0)
	return s
}

func TestPrices(t *testing.T) {
	s := pricedRun(t)
	s.exit(290, "j", scheduler.Done)
	s.pricedRound(360, 9, 9, 9) // without jobs
	got := s.Result()
	want := &LoanSummary{Priced: 3, TrainingPrice: (2.0 + 5 + 4) / 3, LoanPrice: (1.5 + 3 + 0) / 3, ServerPrice: (1.5*4 + 3*16/3 + 0) / 3}
	others := cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && f.Name() != "Priced" && f.Name() != "TrainingPrice" && f.Name() != "LoanPrice" && f.Name() != "ServerPrice"
	}, cmp.Ignore())
	if diff := cmp.Diff(want, got.Summary.Loans, others, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("prices (-want +got):\n%s", diff)
	}
	series := [][]float64{got.Series.Time, got.Series.Loans.TrainingPrice, got.Series.Loans.LoanPrice}
	wantSeries := [][]float64{{0, 60, 120, 180, 240, 300, 360}, {(8*9 + 4*3) / 12, 2, 5, 0, 4, 0, 0}, {0, 1.5, 3, 0, 0, 0, 0}}
	if diff := cmp.Diff(wantSeries, series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// Prices of a policy that never borrows are in units of its own, and not told.
func TestPrices_of_nothing_borrowed(t *testing.T) {
	s := begin(t, DefaultOptions(), node("a", "v100", 8))
	s.loans = pool(0, 0, 0.25)
	s.submit(0, "j")
	s.pricedRound(0, 9, 3, 1)
	got := s.Result()
	if l := got.Summary.Loans; l.Priced != 0 || l.TrainingPrice != 0 || got.Series.Loans.TrainingPrice != nil || got.Series.Loans.LoanPrice != nil {
		t.Errorf("got %+v and %+v, want no prices", l, got.Series.Loans)
	}
}

// Only work since a job last began is lost with a node that goes back, none of a job with
// checkpoints, and none at the cost of loans that the owner did not want.
func TestReturnCost(t *testing.T) {
	for _, test := range []struct {
		wanted int
		cost   float64 // GPU-seconds a node
	}{{1, (4*100.0 + 4*40) / 2}, {0, 0}} {
		s := begin(t, DefaultOptions())
		s.accept(0, &job.Spec{ID: "anew", NoCheckpoint: true})
		s.accept(0, &job.Spec{ID: "kept"})
		s.lend(0, pool(2, test.wanted, 0), lent("l0"), lent("l1"))
		s.round(0, spread("anew", gpusOf("l0", 2), gpusOf("l1", 2)), spread("kept", gpusOf("l0", 2)))
		s.report(20, "anew")
		s.report(20, "kept")
		s.round(120, spread("anew", gpusOf("l1", 4)), scheduler.Preempt{Job: "kept"}, scheduler.Return{Nodes: []cluster.NodeID{"l0"}})
		s.report(140, "anew")
		s.round(180, scheduler.Preempt{Job: "anew"}, scheduler.Return{Nodes: []cluster.NodeID{"l1"}})
		got := s.Result().Summary
		if want := test.cost / 3600; math.Abs(got.Loans.ReturnCost-want) > 1e-12 || got.LostHours != 560.0/3600 {
			t.Errorf("%d wanted: cost %v of %v GPU-hours lost, want %v of %v", test.wanted, got.Loans.ReturnCost, got.LostHours, want, 560.0/3600)
		}
	}
}
