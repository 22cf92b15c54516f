package rivals_test

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/registry"
	_ "github.com/oxgang/oxgang/policy/rivals" // all policies
)

// A policy that says that jobs are not preempted neither stops nor moves one, with any placer.
func TestNonPreemptive(t *testing.T) {
	tried := 0
	for _, e := range registry.Policies() {
		if !strings.Contains(e.Doc, "not preempted") {
			continue
		}
		tried++
		for _, pl := range registry.Placers() {
			t.Run(e.Name+" with "+pl.Name, func(t *testing.T) {
				policytest.RunNonPreemptive(t, func() (policy.Policy, placement.Placer) { return made(t, &e, pl.Name) })
			})
		}
	}
	if tried < 2 {
		t.Errorf("%d policies say that jobs are not preempted, want fifo and easy at least", tried)
	}
}

func made(t *testing.T, e *registry.Entry, placer string) (policy.Policy, placement.Placer) {
	t.Helper()
	p, err := e.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := e.NewPlacer(placer, registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p, pl
}
