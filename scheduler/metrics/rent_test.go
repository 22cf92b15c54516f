package metrics

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func spare(id cluster.NodeID) cluster.Node {
	n := node(id, "t4", 4)
	n.Tenure, n.Group, n.Price = cluster.Rented, "spare", 0.5
	return n
}

// books is how it stands with the spare nodes, at most three.
func books(ready, starting, leaving int) []cluster.Rental {
	n := spare("")
	return []cluster.Rental{{Offer: cluster.Offer{Group: n.Group, Node: n, Most: 3}, Ready: ready, Starting: starting, Leaving: leaving}}
}

// change tells of nodes at a time.
func (s *script) change(t float64, rentals []cluster.Rental, nodes ...cluster.Node) {
	c, err := cluster.New(nodes)
	if err != nil {
		panic(err)
	}
	s.cluster, s.rentals = c, rentals
	s.Event(at(t), scheduler.NodesChanged{Cluster: c, Rentals: rentals})
}

// rentedRun has an owned node of 2 GPUs, orders two nodes at 60 s, which come at 150 s,
// and gives one back at 240 s, which is gone at 360 s. A job holds 2 GPUs of a rented
// node from 180 s to 300 s, when it ends, and its round at 300 s too.
func rentedRun(t *testing.T, o Options) *script {
	own := node("own", "a100", 2)
	s := begin(t, o, own)
	s.rentals = books(0, 0, 0)
	s.submit(0, "j")
	s.round(60)
	s.change(60, books(0, 2, 0), own)
	s.round(120)
	s.change(150, books(2, 0, 0), own, spare("s0"), spare("s1"))
	s.round(180, run("j", "t4", 2, "s0"))
	s.report(190, "j")
	s.round(240)
	s.change(240, books(1, 0, 1), own, spare("s0"))
	s.exit(300, "j", scheduler.Done)
	s.round(300)
	s.change(360, books(1, 0, 0), own, spare("s0"))
	return s
}

func TestRent(t *testing.T) {
	s := rentedRun(t, DefaultOptions())
	got := s.Result()
	want := &Rent{
		Hours:    (8*180.0 + 4*60) / 3600,       // 60 to 240 s, and to the last end at 300 s
		Starting: 8 * 90.0 / 3600,               // 60 to 150 s
		Idle:     (8*30.0 + 6*60 + 2*60) / 3600, // 150 to 180, 240 and 300 s
		Leaving:  4 * 60.0 / 3600,               // 240 to 300 s
		Money:    0.5 * (8*180.0 + 4*60) / 3600, LeavingMoney: 0.5 * 4 * 60.0 / 3600,
		MeanGPUs: (8*180.0 + 4*60) / 300, MostGPUs: 8,
	}
	if diff := cmp.Diff(want, got.Summary.Rent, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("rent (-want +got):\n%s", diff)
	}
	if mean := (2*300 + 8*90 + 4*60) / 300.0; got.Summary.MeanGPUs != mean {
		t.Errorf("%v GPUs there in the mean, want %v", got.Summary.MeanGPUs, mean)
	}
	if rate := (2*300 + 0.5*(8*180+4*60)) / 300; math.Abs(got.Summary.MeanSpending-rate) > 1e-12 {
		t.Errorf("%v an hour, want %v: the owned GPUs have no price", got.Summary.MeanSpending, rate)
	}
	lives := []NodeLife{{"s0", "spare", 150, -1}, {"s1", "spare", 150, 240}}
	if diff := cmp.Diff(lives, got.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	series := Series{
		RoundsPerPoint: 1, Time: []float64{60, 120, 180, 240, 300}, Running: []float64{0, 0, 1, 1, 0}, Waiting: []float64{1, 1, 0, 0, 0},
		Busy: [][]float64{{0, 0, 0, 0, 0}, {0, 0, 2, 2, 0}}, Capacity: [][]float64{{2, 2, 2, 2, 2}, {0, 0, 8, 8, 4}},
		Starting: [][]float64{{0, 0, 0, 0, 0}, {0, 8, 0, 0, 0}}, Spending: []float64{0, 4, 4, 4, 2},
	}
	if diff := cmp.Diff(series, got.Series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if got.Summary.Rounds != 4 {
		t.Errorf("%d rounds, want the 4 with jobs", got.Summary.Rounds)
	}
}

// GPUs of rented nodes are unused again when their job is preempted.
func TestRent_unused_after_a_job(t *testing.T) {
	s := begin(t, DefaultOptions())
	s.submit(0, "j")
	s.change(0, books(1, 0, 0), spare("s0"))
	s.round(0, run("j", "t4", 3, "s0"))
	s.round(60, scheduler.Preempt{Job: "j"})
	s.round(120)
	if got, want := s.Result().Summary.Rent.Idle, (1*60.0+4*60)/3600; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v GPU-hours, want %v", got, want)
	}
}

func TestRent_leaves_the_recorder_as_it_is(t *testing.T) {
	s := rentedRun(t, DefaultOptions())
	first := s.Result()
	if diff := cmp.Diff(first, s.Result()); diff != "" {
		t.Errorf("second Result differs (-first +second):\n%s", diff)
	}
	s.submit(420, "k")
	s.change(480, books(0, 0, 1))
	if first.Nodes[0].Released != -1 {
		t.Error("a Result changed when more was seen")
	}
	if again := s.Result(); again.Nodes[0].Released != 480 || again.Summary.Rent.Hours != (8*180.0+4*240)/3600 {
		t.Errorf("got %+v of nodes %+v, want the pause of 120 s to count now", again.Summary.Rent, again.Nodes)
	}
}

func TestRent_of_a_cluster_that_is_owned(t *testing.T) {
	s := oneLife(t, DefaultOptions())
	s.round(360)
	got := s.Result()
	if got.Summary.Rent != nil || got.Nodes != nil || got.Series.Starting != nil || got.Summary.MeanGPUs != 8 || got.Summary.MeanSpending != 8 {
		t.Errorf("got rent %+v of nodes %v, %v GPUs at %v an hour, want none and 8 GPUs at 1 each", got.Summary.Rent, got.Nodes, got.Summary.MeanGPUs, got.Summary.MeanSpending)
	}
}

func TestNodes_are_capped(t *testing.T) {
	o := DefaultOptions()
	for most, dropped := range []int{2, 1, 0} { // s0 lives on after s1
		o.MaxNodes = most
		if got := rentedRun(t, o).Result(); len(got.Nodes) != most || got.NodesDropped != dropped {
			t.Errorf("%d lives, %d dropped; want %d and %d", len(got.Nodes), got.NodesDropped, most, dropped)
		}
	}
	o.MaxNodes = -1
	if _, err := New(o); err == nil {
		t.Error("got no error for -1 lives")
	}
}

// The worst window is found wherever it begins: the slow obvious search over every
// second of a bill agrees.
func TestBill_worst(t *testing.T) {
	const window = 100
	for name, changes := range map[string][]point{ // spent: the rate from then on
		"the end":          {{0, 1}, {150, 5}},
		"the begin":        {{0, 7}, {30, 1}},
		"one hill":         {{20, 2}, {60, 9}, {80, 3}, {170, 0}},
		"two hills":        {{0, 4}, {10, 0}, {90, 4}, {120, 0}, {190, 8}},
		"a rise":           {{20, 1}, {100, 2}, {160, 0}},
		"nothing":          nil,
		"changes at once":  {{40, 9}, {40, 2}, {90, 0}},
		"always the same":  {{0, 3}},
		"later than never": {{199, 1}},
	} {
		var b bill
		for _, c := range changes {
			b.change(c.at, c.spent)
		}
		most := 0.0
		for begin := 0; begin <= 200-window; begin++ {
			if len(changes) > 0 {
				most = max(most, b.spent(float64(begin+window))-b.spent(float64(begin)))
			}
		}
		if got := b.worst(200, window*time.Second); got != most/window {
			t.Errorf("%s: got %v, want %v", name, got, most/window)
		}
		if got := b.worst(window-1, window*time.Second); got != 0 {
			t.Errorf("%s: got %v of a run shorter than the window, want 0", name, got)
		}
	}
}

// Three nodes for a day in the second week are 3*4*0.5*24 of 168 hours.
func TestRent_worst_week(t *testing.T) {
	const day = 24 * 3600
	s := begin(t, DefaultOptions(), node("own", "a100", 2))
	s.submit(0, "j")
	s.change(9*day, books(0, 1, 2))
	s.change(10*day, books(0, 0, 0))
	s.exit(21*day, "j", scheduler.Done)
	if got, want := s.Result().Summary.Rent, 3*4*0.5*24/168.0; got.WorstWeek != want || got.MostGPUs != 4 {
		t.Errorf("got %v per hour and at most %d GPUs, want %v and the 4 that were on their way", got.WorstWeek, got.MostGPUs, want)
	}
}

func TestSummary_quantiles(t *testing.T) {
	s := begin(t, DefaultOptions(), node("n0", "t4", 4))
	for i := range 100 {
		s.submit(0, job.ID(strconv.Itoa(i)))
	}
	for i := range 100 {
		s.exit(float64(i+1), job.ID(strconv.Itoa(i)), scheduler.Done)
	}
	got := s.Result().Summary // no job ever had GPUs
	jct := []float64{got.P50JCT, got.P75JCT, got.P90JCT, got.P95JCT, got.P99JCT}
	if diff := cmp.Diff([]float64{50, 75, 90, 95, 99}, jct); diff != "" {
		t.Errorf("quantiles of completion times (-want +got):\n%s", diff)
	}
	queued := []float64{got.MeanQueued, got.P50Queued, got.P75Queued, got.P95Queued, got.P99Queued}
	if diff := cmp.Diff([]float64{50.5, 50, 75, 95, 99}, queued); diff != "" {
		t.Errorf("mean and quantiles of queuing times (-want +got):\n%s", diff)
	}
}
