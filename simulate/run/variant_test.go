package run

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/config"
)

// Order 0 on the nodes of the inputs is the run itself; each other order is another run of the same
// jobs, each time the same; and the nodes are those that are given.
func TestSimulateVariant(t *testing.T) {
	c := config.Default()
	c.Generate.Jobs, c.Cluster = 30, "t4:4x4"
	in, err := Load(c, osFiles())
	if err != nil {
		t.Fatal(err)
	}
	mean := func(nodes *cluster.Cluster, order int) float64 {
		t.Helper()
		run, err := SimulateVariant(t.Context(), c, in, "fifo", nodes, order)
		if err != nil {
			t.Fatal(err)
		}
		if run.Result.Summary.Done != 30 {
			t.Errorf("order %d: %d jobs are done, want 30", order, run.Result.Summary.Done)
		}
		return run.Result.Summary.MeanJCT
	}
	run, err := Simulate(t.Context(), c, in, "fifo")
	if err != nil {
		t.Fatal(err)
	}
	first, second := mean(in.Cluster, 1), mean(in.Cluster, 2)
	if own := mean(in.Cluster, 0); own != run.Result.Summary.MeanJCT || first == own || second == own || first == second || mean(in.Cluster, 1) != first {
		t.Errorf("mean JCT %v, and %v and %v in other orders; want %v, and others that differ", own, first, second, run.Result.Summary.MeanJCT)
	}
	nodes := append([]cluster.Node{{ID: "next", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}}, in.Cluster.Nodes()...)
	more, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	if mean(more, 0) == mean(in.Cluster, 0) {
		t.Error("one more node changes nothing")
	}
	if err := c.Set("window", "2-5", "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := SimulateVariant(t.Context(), c, in, "fifo", in.Cluster, 1); err == nil || !strings.Contains(err.Error(), "want 1 order") {
		t.Errorf("another order of a window: %v", err)
	}
}
