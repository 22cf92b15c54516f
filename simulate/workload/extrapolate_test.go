package workload_test

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

func TestExtrapolate(t *testing.T) {
	base := profiles.Default()["bert"]
	bert := workload.Extrapolate(profiles.Default(), []workload.Likeness{{"h100", "a100", 2}, {"b200", "h100", 3}})["bert"]
	shape := []int{4, 4}
	step, sync, _ := base.Speed.Step("a100", shape, 16)
	got, gotSync, ok := bert.Speed.Step("b200", shape, 16)
	if want := sync + (step-sync)/6; !ok || gotSync != sync || math.Abs(got-want) > 1e-12 {
		t.Errorf("step %v with %v of exchange, want %v and %v", got, gotSync, want, sync)
	}
	if same, _, _ := bert.Speed.Step("a100", shape, 16); math.Abs(same-step) > 1e-12 {
		t.Errorf("a100 takes %v, want %v as before", same, step)
	}
	if bert.Batch.LocalMax["b200"] != base.Batch.LocalMax["a100"] {
		t.Errorf("largest local batch %d, want that of a100", bert.Batch.LocalMax["b200"])
	}
	if _, ok := base.Batch.LocalMax["b200"]; ok {
		t.Error("the catalog it came from has changed")
	}
	if _, _, ok := bert.Speed.Step("tpu", shape, 16); ok {
		t.Error("runs on a type nobody described")
	}
}
