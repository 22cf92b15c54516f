package shockwave

import (
	"maps"
	"testing"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// What the work returned once is the policy's: doing it again does not change it.
func TestWork_is_pure(t *testing.T) {
	p, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: 2 * time.Minute, Cluster: oneGPU(t), Jobs: []*policy.Job{scheduled(20, 10)}}
	plan, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	first := plan.Background.Do(t.Context()).(*window)
	found, runs := first.solved, maps.Clone(first.runs)
	first.runs["j"] = run{}
	again := plan.Background.Do(t.Context()).(*window)
	if first == again || first.solved != found || first.runs["j"] != (run{}) || !maps.Equal(again.runs, runs) {
		t.Errorf("the second window is %+v, the first became %+v", again, first)
	}
}
