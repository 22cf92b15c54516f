package metrics

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func lent(id cluster.NodeID) cluster.Node {
	n := node(id, "t4", 4)
	n.Tenure, n.Group = cluster.Loaned, "pool"
	return n
}

// pool is how it stands with four nodes that can be lent.
func pool(lentOut, wanted int, load float64) []cluster.Loan {
	l := cluster.Loan{Group: "pool", Node: lent(""), Nodes: 4, Lent: lentOut, Reclaim: wanted, Load: load}
	if wanted > 0 {
		l.By = at(270)
	}
	return []cluster.Loan{l}
}

// lend tells of nodes on loan at a time.
func (s *script) lend(t float64, loans []cluster.Loan, nodes ...cluster.Node) {
	c, err := cluster.New(nodes)
	if err != nil {
		panic(err)
	}
	s.cluster, s.loans = c, loans
	s.Event(at(t), scheduler.NodesChanged{Cluster: c, Loans: loans})
}

// spread grants GPUs of the type t4 of several nodes, in ascending order of their IDs.
func spread(id job.ID, shares ...cluster.Share) scheduler.Run {
	act := scheduler.Run{Job: id, Placement: shares}
	act.Allocation.GPUType, act.Allocation.Nodes = "t4", len(shares)
	for _, share := range shares {
		act.Allocation.GPUs += share.GPUs
	}
	return act
}

func gpusOf(on cluster.NodeID, gpus int) cluster.Share {
	return cluster.Share{Node: on, Resources: cluster.Resources{GPUs: gpus}}
}

// resized says that a Run is no restart.
func resized(act scheduler.Run) scheduler.Run {
	act.Resized = true
	return act
}

// loanRun has an owned node of 4 GPUs, and three nodes of 4 on loan from 30 s. Two of them are wanted at 150 s,
// returned at 180 s and gone at 185 s. Elastic job e starts on two GPUs of l0, has workers also on l1 from 120 s,
// and has all of l0 at 180 s. Job b, on l0 and l2, is preempted at 180 s and starts again on the owned node at 240
// s.
func loanRun(t *testing.T) *script {
	own := node("own", "v100", 4)
	s := begin(t, DefaultOptions(), own)
	s.loans = pool(0, 0, 0.25)
	s.accept(0, &job.Spec{ID: "e", Resizes: true})
	s.accept(0, &job.Spec{ID: "b", NoCheckpoint: true})
	s.round(0, scheduler.Provision{Group: "pool", Nodes: 3})
	s.lend(30, pool(3, 0, 0.25), own, lent("l0"), lent("l1"), lent("l2"))
	s.round(60, spread("b", gpusOf("l0", 2), gpusOf("l2", 2)), spread("e", gpusOf("l0", 2)))
	s.report(70, "b")
	s.round(120, resized(spread("e", gpusOf("l0", 2), gpusOf("l1", 4))))
	s.report(130, "e")
	s.lend(150, pool(3, 2, 0.5), own, lent("l0"), lent("l1"), lent("l2"))
	s.round(180, scheduler.Preempt{Job: "b"}, resized(spread("e", gpusOf("l0", 4))),
		scheduler.Return{Nodes: []cluster.NodeID{"l1", "l2"}})
	s.lend(185, pool(1, 0, 0.5), own, lent("l0"))
	s.round(240, run("b", "v100", 4, "own"))
	s.report(250, "b")
	s.exit(300, "b", scheduler.Done)
	s.round(300)
	s.exit(330, "e", scheduler.Done) // and holds its GPUs until 360 s
	return s
}

func TestLoans(t *testing.T) {
	got := loanRun(t).Result()
	used := (6.0 + 10 + 4 + 4 + 4) * 60 // from 60 s, by rounds
	there := 12*155.0 + 4*175           // from 30 and 185 s
	load := 4*150.0 + 8*210             // from 0 and 150 s
	want := &LoanSummary{
		Training: 4 * 60.0 / (4 * 360), OnLoan: used / there, Overall: (4*60 + used + load - 4*35) / ((4 + 16) * 360),
		LentHours: there / 3600, BusyHours: used / 3600,
		ShortHours: 4 * 35.0 / 3600, // of two nodes that it would use one, until 185 s
		Loans:      1, Nodes: 3, Reclaims: 1, Reclaimed: 2, Preempted: 1,
		Flexible:  0.5, // l1
		OfRunning: 0.5, OfBorrowing: 0.5,
		Damage:     2.0 / 8,          // of b on l0
		ReturnCost: 440.0 / 3600 / 2, // of b
	}
	if diff := cmp.Diff(want, got.Summary.Loans, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("loans (-want +got):\n%s", diff)
	}
	series := &LoanSeries{
		Lent: []float64{0, 12, 12, 12, 4, 4}, Busy: []float64{0, 6, 10, 4, 4, 4}, Wanted: []float64{0, 0, 0, 8, 0, 0},
		Load: []float64{4, 4, 4, 8, 8, 8}, Pool: []float64{16, 16, 16, 16, 16, 16},
	}
	if diff := cmp.Diff(series, got.Series.Loans); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestLoans_of_jobs(t *testing.T) {
	got := loanRun(t).Result()
	types := got.Types // v100, t4
	if diff := cmp.Diff([]cluster.GPUType{"v100", "t4"}, types); diff != "" {
		t.Fatalf("types (-want +got):\n%s", diff)
	}
	want := []JobResult{
		{
			ID: "b", GPUs: 1, Outcome: Done, FirstStarted: 60, Finished: 300, JCT: 300, Queued: 120, Restarts: 1, Preemptions: 1, OnLoan: true,
			Allocated: 4 * 180, ByType: []float64{4 * 60, 4 * 120}, Useful: 4*110 + 4*50, Restart: 4*10 + 4*10, Lost: 4 * 110,
			Intervals: []Interval{{60, 70, 4, 1, Restoring}, {70, 180, 4, 1, Training}, {240, 250, 4, 0, Restoring}, {250, 300, 4, 0, Training}},
		},
		{
			ID: "e", GPUs: 1, Outcome: Done, FirstStarted: 60, Finished: 330, JCT: 330, Queued: 60, Resizes: 2, OnLoan: true,
			Allocated: 2*60 + 6*60 + 4*180, ByType: []float64{0, 2*60 + 6*60 + 4*180}, Useful: 6*50 + 4*150, Restart: 2*60 + 6*10, Idle: 4 * 30,
			Intervals: []Interval{{60, 120, 2, 1, Restoring}, {120, 130, 6, 1, Restoring}, {130, 180, 6, 1, Training}, {180, 330, 4, 1, Training}, {330, 360, 4, 1, Idle}},
		},
	}
	others := cmpopts.IgnoreFields(JobResult{}, "Class", "Efficiency", "Contention", "Energy", "Cost")
	if diff := cmp.Diff(want, got.Jobs, others); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	s := &got.Summary
	if s.Preemptions != 1 || s.Resizes != 2 || s.PreemptionRatio() != 0.5 || s.LostHours != 440.0/3600 {
		t.Errorf("%d preemptions (ratio %v), %d resizes, %v GPU-hours lost; want 1 (0.5), 2 and 440 GPU-seconds", s.Preemptions, s.PreemptionRatio(), s.Resizes, s.LostHours)
	}
	if want := (640.0 - 440 + 900) / (720 + 1200); math.Abs(s.GoodputRatio-want) > 1e-12 {
		t.Errorf("goodput ratio %v, want %v: what was lost is none", s.GoodputRatio, want)
	}
	if s.Rounds != 6 {
		t.Errorf("%d rounds, want the 6 with jobs", s.Rounds)
	}
}

// A job that starts elsewhere in the round in which its node goes back is preempted, and
// GPUs that it keeps are no damage; one that moves for its own sake is not.
func TestLoans_a_job_that_moves_off_a_node(t *testing.T) {
	s := begin(t, DefaultOptions())
	s.submit(0, "moved")
	s.submit(0, "mover")
	s.submit(0, "waits")
	s.lend(0, pool(3, 1, 0), lent("l0"), lent("l1"), lent("l2"))
	s.round(0, spread("moved", gpusOf("l0", 4), gpusOf("l1", 2)), spread("mover", gpusOf("l2", 1)))
	s.round(60, spread("moved", gpusOf("l1", 1), gpusOf("l2", 1)), spread("mover", gpusOf("l1", 1)),
		scheduler.Return{Nodes: []cluster.NodeID{"l0"}})
	got := s.Result()
	if l := got.Summary.Loans; l.Preempted != 1 || l.Damage != 1.0/4 || l.Flexible != 0 || l.OfRunning != 0.5 {
		t.Errorf("got %+v, want 1 job of 2 preempted that left 1 GPU beside the 4 that go back", l)
	}
	if s := got.Summary; s.Preemptions != 1 || got.Jobs[0].Preemptions != 1 {
		t.Errorf("%d preemptions, %d of %s, want 1 of it", s.Preemptions, got.Jobs[0].Preemptions, got.Jobs[0].ID)
	}
}

// What nobody wants back reclaims nothing, whoever is preempted then.
func TestLoans_given_back_unasked(t *testing.T) {
	s := begin(t, DefaultOptions())
	s.submit(0, "j")
	s.lend(0, pool(1, 0, 0), lent("l0"))
	s.round(0, spread("j", gpusOf("l0", 4)))
	s.round(60, scheduler.Preempt{Job: "j"}, scheduler.Return{Nodes: []cluster.NodeID{"l0"}})
	s.lend(60, pool(0, 0, 0))
	if got := s.Result().Summary; got.Loans.Reclaimed != 0 || got.Loans.Preempted != 0 || got.Preemptions != 1 || got.Loans.Taken != 0 {
		t.Errorf("got %+v and %d preemptions, want nothing reclaimed and 1", got.Loans, got.Preemptions)
	}
}

// Nodes that are due and not given back are taken, and jobs on them are lost.
func TestLoans_taken(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     float64 // when l1 is gone; it was due at 270 s
		back   []cluster.NodeID
		taken  int
		wanted int
	}{
		{"due", 270, nil, 1, 1}, {"broken before", 269, nil, 0, 1}, {"given back", 270, []cluster.NodeID{"l1"}, 0, 1}, {"not wanted", 270, nil, 0, 0},
	} {
		s := begin(t, DefaultOptions())
		s.submit(0, "j")
		s.submit(0, "k")
		s.lend(0, pool(2, test.wanted, 0), lent("l0"), lent("l1"))
		s.round(0, spread("j", gpusOf("l1", 4)))
		if test.back != nil {
			s.round(240, scheduler.Return{Nodes: test.back})
		}
		s.lend(test.at, pool(1, 0, 0), lent("l0"))
		s.exit(test.at, "j", scheduler.Lost)
		s.exit(test.at, "k", scheduler.Lost) // it holds nothing
		got := s.Result().Summary
		if got.Loans.Taken != test.taken || got.Loans.Lost != 1 || got.Preemptions != 1 {
			t.Errorf("%s: %d nodes taken, %d jobs lost, %d preemptions; want %d, 1 and 1", test.name, got.Loans.Taken, got.Loans.Lost, got.Preemptions, test.taken)
		}
	}
}

// Time in which no job is there counts once another comes.
func TestLoans_pauses(t *testing.T) {
	s := loanRun(t)
	first := s.Result()
	if diff := cmp.Diff(first, s.Result()); diff != "" {
		t.Errorf("second Result differs (-first +second):\n%s", diff)
	}
	s.round(360)
	s.round(420)
	if diff := cmp.Diff(first.Summary.Loans, s.Result().Summary.Loans); diff != "" {
		t.Errorf("after a pause (-first +second):\n%s", diff)
	}
	s.submit(480, "c")
	s.round(480)
	if got, want := s.Result().Summary.Loans.LentHours, first.Summary.Loans.LentHours+4*120.0/3600; got != want {
		t.Errorf("%v GPU-hours lent, want %v", got, want)
	}
}

// A cluster that is seen only after the first submission was there all the time.
func TestLoans_known_late(t *testing.T) {
	s := begin(t, DefaultOptions(), node("own", "v100", 4))
	s.submit(0, "j")
	s.loans = pool(0, 0, 0.5)
	s.round(60)
	s.round(120)
	if got := s.Result().Summary.Loans; got.Overall != 8.0/20 {
		t.Errorf("overall usage %v, want the owner's 8 of 20 GPUs", got.Overall)
	}
}

func TestLoans_of_a_cluster_without(t *testing.T) {
	s := oneLife(t, DefaultOptions())
	if got := s.Result(); got.Summary.Loans != nil || got.Series.Loans != nil {
		t.Errorf("got %+v and %+v, want none", got.Summary.Loans, got.Series.Loans)
	}
}
