package synergy_test

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/policy/synergy"
)

func TestOptions_join_all_complaints(t *testing.T) {
	o := synergy.Options{Order: "lifo", Mechanism: "magic", Cells: "some", Solver: "gurobi", Rules: "none"}
	_, err := synergy.New(o)
	if err == nil {
		t.Fatal("takes bad options")
	}
	for _, want := range []string{
		`order "lifo", want one of fifo, srtf, las, ftf, drf, tetris`, `mechanism "magic", want one of proportional, greedy, tune, opt`,
		`cells "some", want all or demand`, `solver "gurobi", want one of price`, `rules "none", want paper or public-code`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want one with %q", err, want)
		}
	}
}

func TestOptions_the_public_code_has_no_opt(t *testing.T) {
	o := synergy.DefaultOptions()
	o.Mechanism, o.Rules = synergy.Opt, synergy.PublicCode
	if _, err := synergy.New(o); err == nil || !strings.Contains(err.Error(), "mechanism opt, want proportional, greedy or tune with rules public-code") {
		t.Errorf("got error %v", err)
	}
}

func TestOptions_of_the_public_code_make_a_policy(t *testing.T) {
	if plan := mustPlan(t, fresh(t, func(o *synergy.Options) { o.Rules = synergy.PublicCode }), example(t)); plan.Jobs[0].Allocation.GPUs != 4 {
		t.Errorf("got %v, want 4 GPUs", plan.Jobs[0].Allocation)
	}
}
