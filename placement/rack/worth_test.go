package rack_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/perf/locality"
	"github.com/oxgang/oxgang/placement/rack"
	"github.com/oxgang/oxgang/placement/submesh"
	"github.com/oxgang/oxgang/policy"
)

// restarts is a job of class "small" whose restart takes so long.
func restarts(d time.Duration) func(*policy.Job, *policy.Decision) {
	return func(j *policy.Job, _ *policy.Decision) { j.Class, j.RestartOverhead = "small", d }
}

// A gang comes together for what its class loses in several racks in a quarter of an hour, where that is known, and is more than
// its own restart: for 180 s of its GPUs where steps take 1.25 times as long.
func TestPlace_by_what_a_class_loses(t *testing.T) {
	large := func(j *policy.Job, _ *policy.Decision) { j.Class, j.RestartOverhead = "large", 30*time.Second }
	four := func(d time.Duration) []row { // GPUs have to restart for eight
		return []row{{held: "a1=4", set: restarts(d)}, busy("b1=4"), {nodes: 2, gpus: 8, set: large}}
	}
	sixteen := func(d time.Duration) []row { // for twelve
		return []row{{held: "a1=4 b1=4", set: restarts(d)}, {held: "a2=4 b2=4", set: restarts(d)}, {nodes: 3, gpus: 12, set: large}}
	}
	for _, test := range []struct {
		name     string
		known    locality.Costs
		rows     []row
		together bool
	}{
		{"it is not known: no more GPUs than its own", nil, four(time.Hour), true},
		{"nor of more GPUs", nil, sixteen(time.Second), false},
		{"of another class", locality.Costs{"small": {Times: 3, Pairs: 1}}, sixteen(time.Second), false},
		{"no slower: as if it were not known", locality.Costs{"large": {Times: 1, Pairs: 1}}, four(time.Hour), true},
		{"faster: as if it were not known", locality.Costs{"large": {Times: 0.8, Pairs: 1}}, sixteen(time.Second), false},
		{"less than its own restart: as if it were not known", locality.Costs{"large": {Times: 1.01, Pairs: 1}}, four(time.Hour), true},
		{"more than restarts of as many GPUs", locality.Costs{"large": {Times: 1.25, Pairs: 1}}, four(359 * time.Second), true},
		{"less than that", locality.Costs{"large": {Times: 1.25, Pairs: 1}}, four(361 * time.Second), false},
		{"more than restarts of more GPUs than it has", locality.Costs{"large": {Times: 1.25, Pairs: 1}}, sixteen(134 * time.Second), true},
		{"less than those", locality.Costs{"large": {Times: 1.25, Pairs: 1}}, sixteen(136 * time.Second), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			racks := "a:2 b:2"
			if test.rows[len(test.rows)-1].nodes == 3 {
				racks = "a:3 b:3 c:1"
			}
			s, p := round(aisle(t, racks), test.rows)
			s.Locality = test.known
			if _, err := rack.New(submesh.New(submesh.DefaultOptions())).Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			at := p.Jobs[len(test.rows)-1].Placement
			if got := s.Cluster.Racks(at) == 1; got != test.together {
				t.Errorf("%s: in one rack %v, want %v", text(at), got, test.together)
			}
		})
	}
}
