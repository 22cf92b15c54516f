package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// onTwo grants GPUs of the node own, of v100, and of the node l0, of t4.
func onTwo(own, others int) scheduler.Run {
	act := run("m", "v100", own, "own")
	act.Allocation.Also = cluster.Configuration{Nodes: 1, GPUs: others, GPUType: "t4"}
	act.Placement = cluster.Placement{gpusOf("l0", others), gpusOf("own", own)}
	return act
}

// A job holds four owned GPUs from 60 s, and two on loan beside them from 120 s to 240 s, where
// it ends in the round.
func TestJobsOnTwoTypes(t *testing.T) {
	own, l0 := node("own", "v100", 4), lent("l0")
	own.Power, own.Price = 300, 3
	l0.Power, l0.Price = 70, 1
	s := begin(t, DefaultOptions(), own)
	s.loans = pool(0, 0, 0)
	s.accept(0, &job.Spec{ID: "m", Resizes: true})
	s.lend(30, pool(1, 0, 0), own, l0)
	s.round(60, run("m", "v100", 4, "own"))
	s.report(60, "m")
	s.round(120, resized(onTwo(4, 2)))
	s.round(180)
	s.exit(200, "m", scheduler.Done)
	s.round(240)
	got := s.Result()
	j := got.Jobs[0]
	if diff := cmp.Diff([]float64{4 * 180, 2 * 120}, j.ByType); diff != "" {
		t.Errorf("GPU-seconds by type (-want +got):\n%s", diff)
	}
	if j.Allocated != 4*180+2*120 || j.Useful != 4*140+2*80 || j.Idle != 6*40 || j.Resizes != 1 || j.Restarts != 0 || !j.OnLoan {
		t.Errorf("got %+v, want 960 GPU-seconds, 720 of them useful and 240 idle, one resize, on loan", j)
	}
	if diff := cmp.Diff([][]float64{{4, 4, 4, 0}, {0, 2, 2, 0}}, got.Series.Busy); diff != "" {
		t.Errorf("busy (-want +got):\n%s", diff)
	}
	want := []Interval{{60, 120, 4, 0, Training}, {120, 200, 6, 0, Training}, {200, 240, 6, 0, Idle}}
	if diff := cmp.Diff(want, j.Intervals); diff != "" {
		t.Errorf("intervals (-want +got):\n%s", diff)
	}
	if l := got.Summary.Loans; l.BusyHours != 240.0/3600 {
		t.Errorf("%g GPU-hours on loan, want those of two GPUs for 120 s", l.BusyHours)
	}
	if diff := cmp.Diff([]float64{(4*300*180 + 2*70*120) / 3.6e6, (4*3*180 + 2*1*120) / 3600.}, []float64{j.Energy, j.Cost}, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("energy and cost (-want +got):\n%s", diff)
	}
}

// Where a Run names no nodes, watts and price are those of its types.
func TestJobsOnTwoTypes_without_nodes(t *testing.T) {
	own, other := node("own", "v100", 4), node("l0", "t4", 4)
	own.Power, own.Price, other.Power, other.Price = 300, 3, 70, 1
	s := begin(t, DefaultOptions(), own, other)
	s.accept(0, &job.Spec{ID: "m"})
	s.round(0)
	act := onTwo(3, 2)
	act.Placement = nil
	want := holding{typ: 0, gpus: 5, second: 1, others: 2, watts: 3*300 + 2*70, price: 3*3 + 2}
	if got := s.gpus.holding(&act); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
