package monitor

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/oxgang/oxgang/internal/tree"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
)

// A script is a backend in which events happen at set times; its rounds end after the last.
type script struct {
	start  time.Time
	events []timed
	apply  time.Duration // that Do takes
}

type timed struct {
	at time.Duration
	ev scheduler.Event
}

func (s *script) Now() time.Time { return time.Now() }

func (s *script) Next(_ context.Context, deadline time.Time) (scheduler.Event, error) {
	if len(s.events) == 0 {
		return nil, io.EOF
	}
	at := s.start.Add(s.events[0].at)
	if at.After(deadline) {
		time.Sleep(time.Until(deadline))
		return nil, nil
	}
	time.Sleep(time.Until(at))
	ev := s.events[0].ev
	s.events = s.events[1:]
	return ev, nil
}

func (s *script) Do(context.Context, []scheduler.Action) error {
	time.Sleep(s.apply)
	return nil
}

// flaky is a policy that takes a second and fails in rounds that fails names.
type flaky struct {
	policy.Policy
	fails func(round int) bool
}

func (f flaky) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	time.Sleep(time.Second)
	if f.fails(s.Round) {
		panic("seeded")
	}
	return f.Policy.Plan(ctx, s)
}

// linear trains at a sample a second on each GPU.
type linear struct{}

func (linear) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return float64(a.GPUs) }
func (linear) Efficiency(float64) float64                               { return 0.5 }

func nodes(t testing.TB, n int) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for i := range n {
		all = append(all, cluster.Node{ID: cluster.NodeID('a' + rune(i)), GPUType: "h100", Capacity: cluster.Resources{GPUs: 4}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func gang(id job.ID, gpus int) *job.Spec {
	return &job.Spec{ID: id, GPUs: gpus, Weight: 1, Adaptivity: job.Rigid, Target: 1e4, BatchSize: 8 * gpus}
}

func report(id job.ID, gpus int) scheduler.Reported {
	return scheduler.Reported{Report: job.Report{
		Job: id, Interval: time.Second, Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "h100"},
		Batch: job.BatchSize{Local: 8}, StepTime: time.Second, Progress: 10,
	}}
}

// play runs the script of one queue: rounds of 10 s, of which the policy takes one and the
// backend two. Rounds 2 to 4 fail.
func play(t *testing.T, m *Metrics, events ...timed) *Queue {
	t.Helper()
	f, err := fallback.New(flaky{queue.New(queue.FIFO()), func(r int) bool { return r >= 2 && r <= 4 }}, fallback.Options{Deadline: 5 * time.Second, After: 2})
	if err != nil {
		t.Fatal(err)
	}
	q := m.Queue("default", 10*time.Second, Source{
		ClockMoved: func() time.Duration { return -time.Hour },
		Fallback:   f.State,
		Stopping:   func() map[cluster.GPUType]int { return map[cluster.GPUType]int{"h100": 1} },
	})
	w := NewWatch(q.Timed)
	o := scheduler.DefaultOptions()
	o.Round, o.Profile = 10*time.Second, false
	s, err := scheduler.New(w.Policy(f), w.Placer(placement.NewBestFit()), nodes(t, 2), o)
	if err != nil {
		t.Fatal(err)
	}
	b := &script{start: time.Now(), events: events, apply: 2 * time.Second}
	if err := s.Run(t.Context(), w.Backend(b), w, q); err != nil {
		t.Fatal(err)
	}
	return q
}

// day is a script in which everything happens.
func day() []timed {
	return []timed{
		{0, scheduler.Submitted{Spec: gang("a", 4)}},
		{0, scheduler.Submitted{Spec: gang("b", 3)}},
		{15 * time.Second, report("a", 4)}, // a trains from 15 s
		{35 * time.Second, scheduler.Exited{Job: "b", Outcome: scheduler.Lost}},
		{75 * time.Second, scheduler.Exited{Job: "a", Outcome: scheduler.Done}},
		{95 * time.Second, scheduler.Exited{Job: "b", Outcome: scheduler.Failed}},
		{125 * time.Second, scheduler.Submitted{Spec: gang("c", 1)}},
	}
}

// gather returns the values of all series, by name and labels other than the queue; of
// histograms their counts.
func gather(t testing.TB, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := []string{f.GetName()}
			for _, l := range m.GetLabel() {
				if l.GetName() != "queue" {
					name = append(name, l.GetValue())
				}
			}
			v := m.GetGauge().GetValue() + m.GetCounter().GetValue()
			if f.GetType() == dto.MetricType_HISTOGRAM {
				v = float64(m.GetHistogram().GetSampleCount())
				all[strings.Join(append(name, "sum"), " ")] = m.GetHistogram().GetSampleSum()
			}
			all[strings.Join(name, " ")] = v
		}
	}
	return all
}

func made(t testing.TB, r prometheus.Registerer, o Options) *Metrics {
	t.Helper()
	m, err := New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestQueue counts by hand what happened. Rounds begin at 10, 20, ... s. At 10 s a and b
// start; the policy fails at 30, 40 and 50 s, of which the queue plans the last two; b, lost at
// 35 s, starts again at 40 s. There are jobs in the nine rounds from 10 to 90 s.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := prometheus.NewRegistry()
		play(t, made(t, r, Options{Version: "v1"}), day()...)
		got := gather(t, r)
		for name, want := range map[string]float64{
			"oxgang_rounds_total": 12, "oxgang_round_interval_seconds": 10, "oxgang_clock_moved_seconds": -3600,
			"oxgang_round_duration_seconds": 12, "oxgang_round_duration_seconds sum": 12*2 + 9,
			"oxgang_round_stage_duration_seconds ok policy":     8,
			"oxgang_round_stage_duration_seconds ok policy sum": 8,
			"oxgang_round_stage_duration_seconds failed policy": 1,
			"oxgang_round_stage_duration_seconds ok apply sum":  24,
			"oxgang_plans_refused_total":                        1,
			"oxgang_policy_failures_total panic":                3,
			"oxgang_policy_failures_total error":                0,
			"oxgang_fallback_rounds_total":                      2,
			"oxgang_fallback_active":                            0,
			"oxgang_decisions_total started":                    3,
			"oxgang_decisions_total preempted":                  0,
			"oxgang_restarts_total":                             1,
			"oxgang_jobs_ended_total lost":                      1,
			"oxgang_jobs_ended_total done":                      1,
			"oxgang_jobs_ended_total failed":                    1,
			"oxgang_jobs running":                               0,
			"oxgang_jobs waiting":                               0,
			"oxgang_gpu_seconds_total h100 productive":          4 * (75 - 15),
			"oxgang_gpus h100 free":                             7,
			"oxgang_gpus h100 held_idle":                        1,
		} {
			if v := got[name]; v != want {
				t.Errorf("%s: %v, want %v", name, v, want)
			}
		}
	})
}

// described returns the names of all metrics, as they are registered.
type described struct{ names []string }

func (d *described) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 10)
	c.Describe(descs)
	close(descs)
	for desc := range descs {
		d.names = append(d.names, regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(desc.String())[1])
	}
	return nil
}
func (d *described) MustRegister(...prometheus.Collector) {}
func (d *described) Unregister(prometheus.Collector) bool { return true }

// names returns those of all metrics.
func names(t testing.TB) []string {
	t.Helper()
	var d described
	made(t, &d, Options{})
	return d.names
}

func TestNames_are_documented(t *testing.T) {
	tree.Check(t, "reference/metrics", names(t))
}

// TestNames_follow_the_conventions, and every metric moves, so that none is there in vain.
func TestNames_follow_the_conventions(t *testing.T) {
	r := prometheus.NewRegistry()
	everything(t, made(t, r, Options{Version: "v1"}))
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, name := range names(t) {
		if !slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name }) {
			t.Errorf("%s: nothing sets it", name)
		}
	}
	bad := promlint.New(bytes.NewBufferString("# TYPE oxgang_round_duration_milliseconds counter\noxgang_round_duration_milliseconds 1\n"))
	if problems, err := bad.Lint(); err != nil || len(problems) == 0 {
		t.Errorf("a seeded bad name: %v, %v, want problems", problems, err)
	}
}

func everything(t testing.TB, m *Metrics) *Queue {
	q := m.Queue("default", time.Minute, Source{ClockMoved: func() time.Duration { return time.Hour }})
	q.Leading(true)
	q.Fenced()
	m.LeftOut("default", 3)
	q.Budget(10)
	now := time.Unix(1e9, 0)
	q.Explained(now)
	j := &policy.Job{Spec: gang("a", 2), Perf: linear{}}
	j.Phase, j.Submitted, j.Since = job.Running, now, now
	j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "h100"}
	j.Placement = cluster.Placement{{Node: "a", Resources: cluster.Resources{GPUs: 2}}}
	j.User, j.Class = "ann", "bert"
	rented, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "h100", Capacity: cluster.Resources{GPUs: 4}, Tenure: cluster.Rented, Group: "g", Price: 2}})
	if err != nil {
		t.Fatal(err)
	}
	q.Event(now, scheduler.NodesChanged{Cluster: rented})
	q.Event(now, scheduler.Restored{Spec: j.Spec, Status: j.Status})
	s := &policy.Snapshot{Now: now, Length: time.Minute, Cluster: rented, Jobs: []*policy.Job{j}}
	s.Rentals = []cluster.Rental{{Offer: cluster.Offer{Group: "g", Most: 3, Node: cluster.Node{Price: 2, Capacity: cluster.Resources{GPUs: 4}}}, Ready: 1, Starting: 1}}
	p := &policy.Plan{Jobs: []policy.Decision{{Allocation: j.Allocation}}, Capacity: map[cluster.Group]int{"g": 3}, Prices: []policy.TypePrice{{Type: "h100", Price: 3}}}
	q.Round(s, p, nil)
	q.Timed(&Timing{Begun: now, Ended: now, Stages: []Stage{{Name: StagePolicy, Begun: now, Ended: now}}})
	q.Event(now.Add(time.Minute), report("a", 2))
	q.Event(now.Add(30*time.Minute), scheduler.NodesChanged{Cluster: s.Cluster})
	q.Event(now.Add(time.Hour), scheduler.Exited{Job: "b", Outcome: scheduler.Done})
	q.Event(now.Add(time.Hour), scheduler.Described{Spec: j.Spec})
	return q
}

// TestValues: money, predictions, fairness and jobs, by hand. Two nodes of 4 GPUs at 2 each
// are paid for half an hour; the plan wants three. 16 samples a second were measured, and 2
// predicted. Job a has two GPUs for an hour, at 3 each in each of 60 rounds, and at a rent of 2.
func TestValues(t *testing.T) {
	r := prometheus.NewRegistry()
	m := made(t, r, Options{})
	q := everything(t, m)
	got := gather(t, r)
	for name, want := range map[string]float64{
		"oxgang_budget_spent_total": 8, "oxgang_budget_forecast": 24, "oxgang_budget_limit": 10,
		"oxgang_throughput_error_ratio h100": 1, "oxgang_throughput_error_ratio h100 sum": 14. / 16,
		"oxgang_goodput_ratio":                     0.5,
		"oxgang_gpu_seconds_total h100 productive": 2 * 3600, "oxgang_gpu_seconds_total h100 free": 2 * 3600,
		"oxgang_used_gpu_seconds_total bert h100 rented held ann": 7200, "oxgang_paid_total bert h100 rented held ann": 360,
		"oxgang_rent_total bert h100 rented held ann": 4, "oxgang_gpu_price h100": 3,
		"oxgang_leader": 1, "oxgang_writes_fenced_total": 1, "oxgang_explain_cache_timestamp_seconds": 1e9,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: %v, want %v", name, v, want)
		}
	}
	if rho := got["oxgang_fairness_ratio worst"]; rho <= 0 || rho > 1 {
		t.Errorf("rho %v, want above 0 and at most 1: it has what it asks for", rho)
	}
	q.Event(time.Unix(1e9+7200, 0), scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	m.Forget("default")
	if left := gather(t, r); len(left) != 1 {
		t.Errorf("the queue is forgotten, and there is %v, want the build alone", left)
	}
}

// TestValues_bad: what is not a number reaches no metric, and clocks that go back take
// nothing away.
func TestValues_bad(t *testing.T) {
	r := prometheus.NewRegistry()
	q := everything(t, made(t, r, Options{}))
	before := gather(t, r)
	nan := 0.0
	nan /= nan
	q.Budget(nan)
	q.Budget(-1)
	bad := report("a", 2)
	bad.StepTime = 0
	q.Event(time.Unix(1e9, 0), bad)
	q.Event(time.Unix(1, 0), scheduler.NodesChanged{Cluster: nodes(t, 1)})
	q.plan(&policy.Plan{Stats: policy.Stats{Gap: nan, Iterations: -1}})
	for name, v := range gather(t, r) {
		if v != before[name] {
			t.Errorf("%s: %v, want still %v", name, v, before[name])
		}
	}
}

func TestNew_twice_on_one_registry(t *testing.T) {
	r := prometheus.NewRegistry()
	made(t, r, Options{})
	if _, err := New(r, Options{}); err == nil || !strings.Contains(err.Error(), "monitor: ") {
		t.Errorf("got %v, want an error", err)
	}
}

// TestForget_one_of_two: queues share names of metrics, and no series.
func TestForget_one_of_two(t *testing.T) {
	r := prometheus.NewRegistry()
	m := made(t, r, Options{})
	everything(t, m)
	m.Queue("other", time.Minute, Source{}).Leading(false)
	m.Forget("default")
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range families {
		for _, s := range f.GetMetric() {
			for _, l := range s.GetLabel() {
				if l.GetName() == "queue" && l.GetValue() != "other" {
					t.Errorf("%s of queue %s, which is forgotten", f.GetName(), l.GetValue())
				}
			}
		}
		if seen++; f.GetName() == "oxgang_leader" && f.GetMetric()[0].GetGauge().GetValue() != 0 {
			t.Error("other leads, and only default did")
		}
	}
	if seen < 3 {
		t.Errorf("%d metrics are left, want those of the other queue", seen)
	}
}

func (linear) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
