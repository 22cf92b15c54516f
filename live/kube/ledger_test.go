package kube

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/ledger"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// An accounting is a ledger of a run, and what other observers measure of it in their own ways.
type accounting struct {
	book     ledger.Book
	rec      *ledger.Recorder
	measured *metrics.Recorder
	registry *prometheus.Registry
	queue    *monitor.Queue
}

func account(t testing.TB) *accounting {
	t.Helper()
	a := &accounting{registry: prometheus.NewRegistry()}
	a.rec = ledger.NewRecorder(time.Time{}, nil, a.book.Add)
	m, err := monitor.New(a.registry, monitor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.measured, err = metrics.New(metrics.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	a.queue = m.Queue("research", time.Minute, monitor.Source{})
	return a
}

func (a *accounting) observers() []scheduler.Observer {
	return []scheduler.Observer{a.rec, a.measured, a.queue}
}

// check compares them, and returns the ledger.
func (a *accounting) check(t testing.TB) *ledger.Statement {
	t.Helper()
	a.rec.Close()
	s, err := a.book.State([]string{"tenure"}, a.rec.Movements()...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "GPU-seconds used", s.Total.Used.Seconds(), 3600*a.measured.Result().Summary.AllocatedHours)
	var on [3]float64
	for _, p := range s.Pools {
		on[map[string]int{"owned": 0, "loaned": 1, "rented": 2}[p.Tenure]] += p.Jobs.Seconds()
	}
	for i, total := range []ledger.GPUTime{s.Total.Owned, s.Total.Loaned, s.Total.Rented} {
		if total.Seconds() != on[i] {
			t.Errorf("%v GPU-seconds of jobs, and %v of pools", total, on[i])
		}
	}
	return s
}

func same(t testing.TB, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 || want <= 0 {
		t.Errorf("%s: %.9f in the ledger, want %.9f, and more than 0", what, got, want)
	}
}

// TestLedger_of_rented_nodes: the ledger of a backend that rents has all GPU time that metrics measure
// of its jobs and that the monitor measures of its GPUs, and all that the monitor counts as spent.
func TestLedger_of_rented_nodes(t *testing.T) {
	renting(t, "", func(t *tenant) {
		a := account(t)
		if err := t.served(3, a.observers()...)(t.Context(), t.w); err != nil {
			t.Fatal(err)
		}
		s := a.check(t)
		held := s.Total.Used.Seconds() - s.Total.Idle.Seconds() - s.Total.Profiling.Seconds()
		same(t, "GPU-seconds held", held, counted(t, a.registry, "oxgang_gpu_seconds_total", "productive", "restarting"))
		same(t, "rent", s.Pools[len(s.Pools)-1].Rent, counted(t, a.registry, "oxgang_budget_spent_total"))
		if s.Total.Rented.IsZero() {
			t.Error("nothing ran on rented nodes")
		}
	})
}

// TestLedger_of_loans: so it is where nodes are lent, and one goes back.
func TestLedger_of_loans(t *testing.T) {
	bubble(t, "one goes back", func(t *testing.T) {
		twin, a := kubetest.New(), account(t)
		twin.AddNode("v0", 8, "v100")
		twin.AddServer("t0", 8, "t4")
		twin.AddServer("t1", 8, "t4")
		s := &stage{t: t, twin: twin, o: lending(options(v1alpha1.Resize)), policy: "lyra", watch: a.observers()}
		s.lead()
		s.live(15 * time.Second)
		for _, ask := range []kubetest.Ask{{Name: "own", Workers: 1, GPUs: 8, Annotations: map[string]string{v1alpha1.GPUTypes: "v100"}}, {Name: "one", Workers: 1, GPUs: 8}, {Name: "two", Workers: 1, GPUs: 4}} {
			twin.Submit(queue, &ask)
			s.live(12 * time.Second)
		}
		s.live(60 * time.Second)
		twin.Serve("i", 8)
		s.live(60 * time.Second)
		s.end()
		got := a.check(t)
		if got.Total.Loaned.IsZero() {
			t.Error("nothing ran on nodes on loan")
		}
		if p := got.Pools[0]; p.Tenure != "loaned" || p.Came != 2 || p.Returned+p.Gone != 1 {
			t.Errorf("%+v, want that two nodes came and one went", p)
		}
	})
}

// counted returns the sum of a counter's series of which a label has one of the values; of all without.
func counted(t testing.TB, r *prometheus.Registry, name string, values ...string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name {
				continue
			}
			of := len(values) == 0
			for _, l := range m.GetLabel() {
				for _, v := range values {
					of = of || l.GetValue() == v
				}
			}
			if of {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}
