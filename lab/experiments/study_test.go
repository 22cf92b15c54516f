package experiments

import (
	"io"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/run"
)

// A small study of each case has the figures of its case, and only those of the rounds that count.
func TestStudies(t *testing.T) {
	const network = `{"directed": true, "nodes": [{"id": 1}, {"id": 2}, {"id": 3}], "links": [{"source": 1, "target": 2, "capacity": 5},
		{"source": 2, "target": 3, "capacity": 5}, {"source": 1, "target": 3, "capacity": 5}, {"source": 3, "target": 1, "capacity": 5}]}`
	files := run.Files{Open: func(name string) (io.ReadCloser, error) {
		if name != "shared/net.json" {
			t.Errorf("opened %s, want shared/net.json", name)
		}
		return io.NopCloser(strings.NewReader(network)), nil
	}}
	e := mustParse(t, `
runs:
  - {name: price, study: {case: rounds, gpus: 64, method: price, rounds: 3}}
  - {name: copter, study: {case: rounds, gpus: 64, method: copter, rounds: 3}}
  - {name: heuristic, study: {case: shards, shards: 32, servers: 4, method: heuristic, rounds: 5, skip: 1}}
  - {name: stateful, study: {case: shards, shards: 32, servers: 4, load: stateful, method: heuristic, rounds: 5, skip: 1}}
  - {name: te, study: {case: te, topology: '{data}/net.json', demand: poisson, method: copter, rounds: 3, skip: 1}}
checks:
  - {run: price, published: {plan_value: '>= 1', gap_worst_pct: <= 1e-5, whole_pct: 100 +- 0.1, solve_p50_ms: '>= 0', solve_p99_ms: <= 1e6}}
  - {run: copter, over: price, published: {plan_value: '<= 1.0001'}}
  - {run: copter, over: price, published: {plan_value: '>= 0.5'}}
  - {run: heuristic, published: {imbalance_pct: '>= 0.1', movements: '>= 0.1', mean_load_min: '>= 0.1', solve_mean_ms: '>= 0'}}
  - {run: heuristic, over: stateful, published: {movements: '>= 1.01'}}
  - {run: te, published: {flow: '>= 1', served_pct: '>= 50'}}
  - {run: te, published: {served_pct: '<= 100.001', gap_worst_pct: <= 1, solve_mean_ms: '>= 0'}}`)
	found, err := e.Reproduce(t.Context(), Options{Files: files, Data: "shared"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Verdict != Within {
			t.Errorf("%s: %s is %v, want %s", f.Row, f.Metric, f.Ours, f.Band)
		}
	}
}

func TestStudyErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"runs: [{name: a, study: {case: none, method: x, rounds: 1}}]", `study "none"`},
		{"runs: [{name: a, study: {case: rounds, method: price, rounds: 2, skip: 2}}]", "2 skipped"},
		{"runs: [{name: a, policy: sia, study: {case: rounds, method: price, rounds: 1}}]", "a policy or a study"},
		{"runs: [{name: a}]", "a policy or a study"},
	} {
		if _, err := parse("x/y", []byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: got error %v, want %q", tc.text, err, tc.want)
		}
	}
}
