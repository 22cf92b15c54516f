package run

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
)

// recordedRun simulates a policy and returns its journal.
func recordedRun(t *testing.T, c *config.Config, in *Inputs, name string) string {
	t.Helper()
	var out bytes.Buffer
	w := journal.NewWriter(&out, Header(c, in, name, "test"))
	if _, err := Simulate(t.Context(), c, in, name, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// again replays a journal through the policy that its header names, made anew, and
// returns the journal of that.
func again(t *testing.T, in *Inputs, text string) (string, journal.Comparison) {
	t.Helper()
	r := reader(t, []byte(text))
	h := r.Header()
	c, _, err := Origin(&h, Files{})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := registry.Find(h.Policy)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPolicy(c, h.Policy)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := entry.NewPlacer(c.Placer, registry.PlacerOptions{Penalty: c.Penalty})
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := options(c, in, entry.Traits())
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduler.New(p, placer, h.Cluster, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, b := journal.NewWriter(&out, h), journal.Replay(r)
	if err := s.Run(context.WithoutCancel(t.Context()), b, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), b.Comparison()
}

// A run on rented nodes of a policy that learns classes, and that of one that does not,
// replay byte for byte from their journals: all that they learned was reported.
func TestReplay_of_policies_that_rent(t *testing.T) {
	all := map[string]map[string]string{
		"boa":              {"set": "budget=24,recompute=5m", "estimate.share": "true", "sim.refuse": "0.1"},
		"boa by known":     {"set": "budget=24", "estimate.classes": "known"},
		"pollux-autoscale": {"set": "population=8,generations=4"},
	}
	for _, name := range draws.Some(t, len(all), slices.Sorted(maps.Keys(all))) {
		set := all[name]
		t.Run(name, func(t *testing.T) {
			c, _ := rentedInputs(t, "t4:8x4/rent,t4:2x4/spot@0.3")
			set["policy"] = strings.Fields(name)[0]
			for key, value := range set {
				if err := c.Set(key, value, "test"); err != nil {
					t.Fatal(err)
				}
			}
			in, err := Load(c, Files{})
			if err != nil {
				t.Fatal(err)
			}
			text := recordedRun(t, c, in, c.Policies[0])
			for _, part := range []string{`{"provision":"t4-4","nodes":`, `{"return":["t4-4-`, `{"run":`} {
				if !strings.Contains(text, part) {
					t.Errorf("the journal has no %s", part)
				}
			}
			got, compared := again(t, in, text)
			if got != text {
				t.Errorf("replayed otherwise (-recorded +replayed):\n%s", cmp.Diff(strings.Split(text, "\n"), strings.Split(got, "\n")))
			}
			if compared.First != nil || compared.Rounds == 0 {
				t.Errorf("got %+v, want every round compared and none to differ", compared)
			}
		})
	}
}
