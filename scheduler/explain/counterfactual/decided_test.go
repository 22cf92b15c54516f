package counterfactual_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/oxgang"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// paced makes so many samples a second on each a100, and half as many on each t4; the second GPU and those after it add less.
type paced float64

func (r paced) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	per := map[cluster.GPUType]float64{"a100": 1, "t4": 0.5}[a.GPUType]
	return float64(r) * per * float64(a.GPUs) / (1 + 0.05*float64(a.GPUs))
}
func (paced) Efficiency(float64) float64                { return 1 }
func (paced) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// slowest is the seconds that a sample takes on one t4.
func (r paced) slowest() float64 {
	return 1 / r.Throughput(cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}}, job.BatchSize{})
}

// A random is a random world in which jobs run as they are planned.
type random struct {
	all    []*policy.Snapshot
	s      policy.Snapshot
	priors []float64 // of which jobs have one
}

// newRandom draws a world of an owned a100 node and one of t4, which is owned or lent.
func newRandom(t *rapid.T) *random {
	nodes := []cluster.Node{{ID: "a100-0", GPUType: "a100", Capacity: cluster.Resources{GPUs: 4}}, {ID: "t4-0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}}
	w := &random{s: policy.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Length: time.Minute}}
	w.priors = rapid.SampledFrom([][]float64{{0}, {0}, {0, 0, 1}}).Draw(t, "priorities")
	if rapid.Bool().Draw(t, "lent") {
		nodes[1].Tenure, nodes[1].Group = cluster.Loaned, "search"
		w.s.Loans = []cluster.Loan{{Group: "search", Node: nodes[1], Nodes: 1, Lent: 1, Every: time.Hour, Expected: rapid.SampledFrom([][]int{{0}, {1, 0}, {1}}).Draw(t, "expected")}}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	w.s.Cluster = c
	return w
}

// submit draws a job.
func (w *random) submit(t *rapid.T, n int) {
	m := paced(rapid.SampledFrom([]float64{10, 30}).Draw(t, "speed"))
	hours := rapid.Float64Range(0.05, 12).Draw(t, "hours")
	spec := &job.Spec{
		ID: job.ID(fmt.Sprint("job-", n)), GPUs: rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "gpus"), BatchSize: 64, Batch: job.BatchLimits{Init: 64, Max: 64},
		Weight: rapid.SampledFrom([]float64{1, 1, 1, 0.3, 3}).Draw(t, "weight"), Target: hours * 3600 / m.slowest(), MinGPUs: 1,
		Adaptivity:      rapid.SampledFrom([]job.Adaptivity{0, job.AnyGPUType, job.GPUCount | job.AnyGPUType}).Draw(t, "adaptivity"),
		RestartOverhead: rapid.SampledFrom([]time.Duration{0, time.Minute, 10 * time.Minute}).Draw(t, "restart"), NoCheckpoint: rapid.IntRange(0, 4).Draw(t, "unsaved") == 0,
	}
	spec.Priority = rapid.SampledFrom(w.priors).Draw(t, "priority")
	row := &policy.Job{Spec: spec, Limits: &spec.Batch, Perf: m, Status: job.Status{Phase: job.Waiting, Submitted: w.s.Now}}
	w.s.Jobs = append(slices.Clip(w.s.Jobs), row)
}

// advance lets a round go by in which jobs have what was planned. Who is done leaves.
func (w *random) advance(p *policy.Plan) {
	now := w.s
	w.all = append(w.all, &now)
	w.s.Jobs = nil
	for i, j := range now.Jobs {
		row, a := *j, p.Jobs[i].Allocation
		if a.Configuration != j.Allocation.Configuration {
			row.Service, row.GPUService = j.AttainedService(now.Now), j.AttainedGPUService(now.Now)
			row.Since, row.Allocation, row.Phase = now.Now, a, job.Running
			if a.IsZero() {
				row.Phase = job.Waiting
			}
			if row.NoCheckpoint {
				row.Progress = 0
			}
		}
		if a.GPUs > 0 {
			row.Progress += j.Perf.Throughput(a, job.BatchSize{}) * now.Length.Seconds()
			row.Reported = now.Now.Add(now.Length)
		}
		if row.Progress < row.Target {
			w.s.Jobs = append(w.s.Jobs, &row)
		}
	}
	w.s.Round, w.s.Now = now.Round+1, now.Now.Add(now.Length)
}

// edited returns a snapshot in which a term is neutral, by what is submitted alone; nil if that cannot be.
func edited(s *policy.Snapshot, id job.ID, term policy.Term) *policy.Snapshot {
	now := *s
	now.Jobs = make([]*policy.Job, len(s.Jobs))
	for i, j := range s.Jobs {
		row, spec := *j, *j.Spec
		switch own := j.ID == id; {
		case term == policy.TermShare:
			spec.Weight = 1
		case term == policy.TermPriority:
			spec.Priority = 0
		case term == policy.TermRestart && own, term == policy.TermOthers && !own:
			spec.RestartOverhead, spec.NoCheckpoint = 0, false
		case term == policy.TermFair:
			row.Submitted = s.Now
		case term == policy.TermWork:
			spec.Target = row.Progress + 3*3600/j.Perf.(paced).slowest()
		}
		row.Spec, row.Limits = &spec, &spec.Batch
		now.Jobs[i] = &row
	}
	if term == policy.TermLoan {
		now.Loans = slices.Clone(s.Loans)
		for i := range now.Loans {
			now.Loans[i].Expected = nil
		}
	}
	return &now
}

// without returns what a job is granted where a term is neutral.
func (w *random) without(ctx context.Context, t *rapid.T, s *policy.Snapshot, d counterfactual.Decider, id job.ID, term policy.Term) (policy.Decision, bool) {
	var plan *policy.Plan
	var err error
	switch term {
	case policy.TermMargin: // nothing that is submitted says what it is
		return policy.Decision{}, false
	case policy.TermEnd:
		o := oxgang.DefaultOptions()
		o.Makespan = 0
		plan, err = w.replay(ctx, t, o, s)
	default:
		plan, err = d.Decide(ctx, edited(s, id, term))
	}
	if err != nil {
		return policy.Decision{}, false
	}
	return plan.Jobs[s.Index(id)], plan.Jobs[s.Index(id)].Why.Kind != policy.Evicted
}

// replay returns the plan of a round by a policy of other options that is shown all rounds before.
func (w *random) replay(ctx context.Context, t *rapid.T, o oxgang.Options, s *policy.Snapshot) (plan *policy.Plan, err error) {
	p, err := oxgang.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range append(slices.Clip(w.all), s) {
		if plan, err = p.Plan(ctx, before); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// A verdict counts what was found of a term: how often it was said to have decided; whether what was submitted confirms that; and how
// often only that shows that it did.
type verdict struct{ named, confirmed, refuted, missed int }

func newOxgang() (policy.Policy, placement.Placer, error) {
	p, err := oxgang.New(oxgang.DefaultOptions())
	return p, placement.NewBestFit(), err
}

// A tally counts decisions.
type tally struct {
	terms                      [9]verdict
	all, none, kept, keptTruly int
}

// live draws a world some hours old, and returns its last round, decided by a policy.
func live(ctx context.Context, t *rapid.T) (*random, *counterfactual.Recorder, *policy.Plan) {
	p, err := oxgang.New(oxgang.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	rec, w := counterfactual.NewRecorder(p, newOxgang, 1000), newRandom(t)
	for n := range rapid.IntRange(1, 12).Draw(t, "jobs") {
		for range rapid.IntRange(0, 20).Draw(t, "rounds") {
			now := w.s
			plan, err := rec.Plan(ctx, &now)
			if err != nil {
				t.Fatal(err)
			}
			w.advance(plan)
		}
		w.submit(t, n)
	}
	now := w.s
	plan, err := rec.Plan(ctx, &now)
	if err != nil {
		t.Fatal(err)
	}
	return w, rec, plan
}

// judge compares what decided about a job with what a change of what was submitted does.
func (c *tally) judge(ctx context.Context, t *rapid.T, w *random, s *policy.Snapshot, d counterfactual.Decider, id job.ID, was policy.Decision) {
	x, ok := counterfactual.Weigh(ctx, s, id, d)
	if !ok {
		t.Fatalf("%s was not weighed", id)
	}
	if c.all++; len(x.Decided) == 0 {
		c.none++
	}
	if was.Why.Kind == policy.KeptNoRestart {
		free, ok := counterfactual.Ignoring(ctx, s, id, d, policy.TermRestart, policy.TermMargin)
		if !ok {
			t.Fatalf("%s is not decided again without what a restart costs", id)
		}
		if c.kept++; free != was.Allocation.Configuration {
			c.keptTruly++
		}
	}
	for _, term := range policy.AllTerms() {
		v, named := &c.terms[term], slices.Contains(x.Decided, term)
		if named {
			v.named++
		}
		got, ok := w.without(ctx, t, s, d, id, term)
		switch changed := got.Allocation.Configuration != was.Allocation.Configuration; {
		case !ok:
		case named && changed:
			v.confirmed++
		case named:
			v.refuted++
		case changed:
			v.missed++
		}
	}
}

// TestWeigh_terms_decided plans again with a submission changed so that a term is neutral, and compares with the
// terms reported as decisive. Changing remaining work, ages or restart costs changes more than the term, so these
// are confirmed less often.
func TestWeigh_terms_decided(t *testing.T) {
	if testing.Short() {
		t.Skip("decides hundreds of rounds again")
	}
	draws.AtLeast(t, 400) // terms but margin, fairness and loan are named 70 times and more
	var c tally
	rapid.Check(t, func(t *rapid.T) {
		w, rec, plan := live(t.Context(), t)
		s, d, err := rec.At(t.Context(), w.s.Now)
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range s.Jobs {
			c.judge(t.Context(), t, w, s, d, j.ID, plan.Jobs[i])
		}
	})
	t.Logf("%d decisions, %d of them by no term alone; %d kept to avoid a restart, %d of them truly", c.all, c.none, c.kept, c.keptTruly)
	least := map[policy.Term]float64{policy.TermShare: 0.95, policy.TermPriority: 0.95, policy.TermRestart: 0.95, policy.TermEnd: 0.85, policy.TermOthers: 0.5, policy.TermWork: 0.4}
	for _, term := range policy.AllTerms() {
		v := c.terms[term]
		t.Logf("%-8v named %3d times: %3d confirmed, %d refuted, %d missed", term, v.named, v.confirmed, v.refuted, v.missed)
		if least[term] > 0 && v.named == 0 || float64(v.confirmed) < least[term]*float64(v.named) {
			t.Errorf("%v: %+v, want at least %.0f %% confirmed", term, v, 100*least[term])
		}
	}
	if 2*c.keptTruly < c.kept { // they are few: 3 to 8
		t.Errorf("of %d jobs said to be kept to avoid a restart, %d were, want most", c.kept, c.keptTruly)
	}
}

// Where time is up before all terms were tried, nothing is said: it would look as if the others had decided nothing.
func TestWeigh_when_time_is_up(t *testing.T) {
	p, err := oxgang.New(oxgang.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.New([]cluster.Node{{ID: "t4-0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	spec := &job.Spec{ID: "a", GPUs: 1, BatchSize: 64, Target: 1e6}
	now := &policy.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Length: time.Minute, Cluster: c}
	now.Jobs = []*policy.Job{{Spec: spec, Limits: &spec.Batch, Perf: paced(10), Status: job.Status{Phase: job.Waiting, Submitted: now.Now}}}
	rec := counterfactual.NewRecorder(p, newOxgang, 10)
	if _, err := rec.Plan(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	s, d, err := rec.At(t.Context(), now.Now)
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	for ctx, want := range map[context.Context]bool{t.Context(): true, late: false} {
		if x, ok := counterfactual.Weigh(ctx, s, "a", d); ok != want {
			t.Errorf("time is up %v: %+v, %v", !want, x, ok)
		}
	}
}
