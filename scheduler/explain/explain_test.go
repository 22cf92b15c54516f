package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

func config(nodes, gpus int, t cluster.GPUType) cluster.Configuration {
	return cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: t}
}

// sentences are what the examples of References must say.
var sentences = map[policy.Kind]string{
	policy.Unexplained:      "its policy gives no reason",
	policy.AsPlanned:        "it keeps its GPUs, as planned",
	policy.Started:          "enough GPUs were free",
	policy.Grown:            "more GPUs make it 1.75 times as fast",
	policy.Shrunk:           "other jobs gain more from the GPUs that were taken from it",
	policy.Moved:            "another GPU type makes it 2 times as fast",
	policy.KeptNoRestart:    "it keeps its GPUs, because a move to 16 a100 GPUs on 2 nodes would gain less than its restart costs; the gain that pays for a restart becomes smaller as the job grows older",
	policy.AboveShare:       "more CPUs or memory than its GPUs' share make it 1.8 times as fast; it loses them when other jobs gain more from them",
	policy.BelowShare:       "it is as fast with less than its GPUs' share of CPUs and memory; other jobs use the rest",
	policy.PinnedRestore:    "it is starting or restoring its checkpoint, and is not interrupted; its size may change once it trains",
	policy.PinnedNonPreempt: "it was submitted as not preemptible, and keeps its GPUs until it ends",
	policy.Reserved:         "it holds its reservation of 8 a100 GPUs until it ends",
	policy.Promised:         "it comes first, because jobs may end only a little later than under easy: its limit is in 1h30m",
	policy.WaitNoCapacity:   "it needs 8 a100 GPUs, and 3 are free",
	policy.WaitServed:       "it needs 8 a100 GPUs, and 3 are free; its policy ranks the jobs that hold GPUs ahead of it",
	policy.WaitPriority:     "it needs 8 a100 GPUs, and 3 are free; jobs of a higher priority come first",
	policy.WaitShare:        "it needs 8 a100 GPUs, and 3 are free; jobs of other users or namespaces come first, up to their shares",
	policy.WaitPrice:        "3 jobs that gain more from a100 GPUs come first (x, y and z)",
	policy.WaitHost:         "no node has 4 a100 GPUs free together with the 24 cores and 372.5 GiB of memory that it needs",
	policy.WaitOrder:        "1 job is ahead of it in the queue (w), and it needs 8 GPUs",
	policy.WaitBackfill:     "the 8 GPUs that it needs are free, but its start would delay the first job in the queue, which is expected to start in 1h00m; it can start after that job, or earlier if more GPUs become free",
	policy.WaitNodes:        "1 rented node for the 16 a100 GPUs on 2 nodes planned for it has not arrived yet; the first round after its nodes are up decides how many GPUs it gets",
	policy.WaitBudget:       "whole nodes for its 4 t4 GPUs would raise the total cost to 43.50 per hour, and the budget now allows 40.00 per hour; it can start when other jobs end, after a time with less spending, or with a larger budget",
	policy.Reclaimed:        "the owner took back its nodes, with 12 t4 GPUs on 2 nodes; it can get other GPUs from the next round on",
	policy.WaitProfile:      "its speed on one GPU of each type is not measured yet; the first round after the measurement decides on it",
	policy.WaitTurn:         "jobs take turns, and it had GPUs for 5m00s of the 20m00s since it was submitted; its next turn comes after the turns of other jobs",
	policy.WaitPlanned:      "jobs take turns; the turn of this job begins in 4m00s, with 2 a100 GPUs for 10m00s; it starts earlier if other jobs end early; new jobs can delay it",
	policy.Unpredicted:      "it keeps 2 a100 GPUs; the plan assumes that its batch size stays at 96, because its schedule does not predict changes",
	policy.Evicted:          "the plan had 16 a100 GPUs on 2 nodes for it, but the nodes went to other jobs; the next round tries again",
	policy.KeptNoPlace:      "the plan had 4 a100 GPUs for it, but the nodes went to other jobs, so it keeps what it has; the next round tries again",
	policy.WaitCap:          "queue vision in November 2026 has used 500.2 of its 500 GPU-hours; it can start from 1 December on, or with a larger cap",
	policy.WaitQuota:        "its queue has 3 GPUs of quota left, and it needs 8; it can start when jobs that use this quota end, or with a larger quota",
	policy.Impossible:       "it asks for 64 a100 GPUs on 8 nodes, and the cluster has 16 in all; it can run only if the cluster grows or it is submitted again for fewer GPUs",
	policy.Refused:          "the policy's plan broke a rule (job x: 9 GPUs), so every job keeps what it has; the next valid plan decides again",
}

// Every kind of reason has its sentence: a kind added to the closed list
// without one fails here. If the sentence states what must happen, the reference does too.
func TestEveryKindHasASentence(t *testing.T) {
	all := References()
	if len(all) != len(policy.Kinds()) || len(references) != len(all) {
		t.Fatalf("%d rows, want one for each of %d kinds", len(references), len(policy.Kinds()))
	}
	for _, r := range all {
		t.Run(r.Why.Kind.String(), func(t *testing.T) {
			if _, has := templates[r.Why.Kind]; !has || r.Means == "" {
				t.Fatalf("no sentence, or no reference: %+v", r)
			}
			if diff := cmp.Diff(sentences[r.Why.Kind], r.Example); diff != "" {
				t.Error(diff)
			}
			if templates[r.Why.Kind].unblock != nil && r.Ends == "" {
				t.Error("the sentence states what must happen, and the reference does not")
			}
		})
	}
}

func TestView(t *testing.T) {
	price, none := 1.7, 0.0
	for _, c := range []struct {
		v            TypeView
		text, prices string
	}{
		{TypeView{Price: &price}, "3 of 8 a100 GPUs free", "a100 1.7"},
		{TypeView{Price: &none}, "3 of 8 a100 GPUs free", "a100 0"},
		{TypeView{Price: &none, CPU: 0.04}, "3 of 8 a100 GPUs free", "a100 a core 0.04 and a GB of memory 0"},
		{TypeView{Price: &price, Memory: 0.5}, "3 of 8 a100 GPUs free", "a100 1.7, a core 0 and a GB of memory 0.5"},
		{TypeView{}, "3 of 8 a100 GPUs free", ""},
		{TypeView{Starting: 16}, "3 of 8 a100 GPUs free, 16 rented a100 GPUs not up yet", ""},
		{TypeView{Starting: 8, Refused: true, Price: &price}, "3 of 8 a100 GPUs free, 8 rented a100 GPUs not up yet, no more a100 GPUs at the provider", "a100 1.7"},
	} {
		v := c.v
		v.Type, v.GPUs, v.Free = "a100", 8, 3
		view := View{Types: []TypeView{v}}
		if text, _, _ := strings.Cut(view.text(), ";"); text != c.text || view.prices() != c.prices {
			t.Errorf("got %q and %q, want %q and %q", text, view.prices(), c.text, c.prices)
		}
	}
}

// Nodes for rent are there once NodesChanged says so.
func TestView_of_rented_nodes(t *testing.T) {
	c, err := cluster.New([]cluster.Node{
		{ID: "t0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}},
		{ID: "a0", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}, Tenure: cluster.Rented, Group: "a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newClusterState(journal.Header{Cluster: c})
	say := func(want string) {
		t.Helper()
		v := w.view()
		if got, _, _ := strings.Cut(v.text(), "; 0 jobs"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	say("4 of 4 t4 GPUs free")
	w.event(scheduler.NodesChanged{Cluster: c.Held(), Rentals: []cluster.Rental{{Offer: c.Offers()[0], Starting: 1}}})
	say("4 of 4 t4 GPUs free, 8 rented a100 GPUs not up yet")
	w.event(scheduler.NodesChanged{Cluster: c, Rentals: []cluster.Rental{{Offer: c.Offers()[0], Ready: 1}}})
	say("4 of 4 t4 GPUs free, 8 of 8 a100 GPUs free")
}

func TestHolding_names_CPUs_and_memory_where_they_count(t *testing.T) {
	for want, h := range map[string]*Holding{
		"no GPUs":                              nil,
		"1 a100 GPU":                           {Nodes: 1, GPUs: 1, Type: "a100"},
		"8 v100 GPUs and 6 t4 GPUs on 2 nodes": {Nodes: 1, GPUs: 8, Type: "v100", Also: &Holding{Nodes: 2, GPUs: 6, Type: "t4"}},
		"1 a100 GPU, 1 core and 18.63 GiB of memory":     {Nodes: 1, GPUs: 1, Type: "a100", CPUs: 1, Memory: 20e9},
		"4 a100 GPUs, 7.5 cores and 58.21 GiB of memory": {Nodes: 1, GPUs: 4, Type: "a100", CPUs: 7.5, Memory: 62500000000},
	} {
		if got := h.text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A policy weighs more than two numbers: where these do not explain it alone,
// the sentence says what does.
func TestSentences_say_when_prices_are_not_all(t *testing.T) {
	for _, c := range []struct {
		why           policy.Reason
		text, details string
	}{
		{
			policy.Reason{Kind: policy.AsPlanned, Config: config(1, 8, "a100"), Value: 3.14, Limit: 5.1},
			"it keeps its GPUs, as planned; 8 a100 GPUs would make it faster, but are not free",
			"it is 3.14 times as fast as with the fewest GPUs of its slowest type; with 8 a100 GPUs, which are worth their price, it would be 5.1 times as fast",
		},
		{policy.Reason{Kind: policy.Shrunk, Config: config(3, 24, "rtx")}, "other jobs gain more from the GPUs that were taken from it", ""},
	} {
		s := explainContext{why: c.why}
		if diff := cmp.Diff(c.text, s.because()); diff != "" {
			t.Error(diff)
		}
		if s.details() != c.details {
			t.Errorf("got %q, want %q", s.details(), c.details)
		}
	}
}

// Where CPUs or memory have a price, it is in that of a GPU.
func TestSentence_of_a_price_with_CPUs(t *testing.T) {
	s := exampleContext(policy.Reason{Kind: policy.WaitPrice, Config: config(1, 2, "a100"), Value: 1.2, Limit: 1.8})
	s.view.Types[0].CPU = 0.3
	if want := "per a100 GPU, with its CPUs and memory,"; !strings.Contains(s.details(), want) {
		t.Errorf("got %q, want %q in it", s.details(), want)
	}
}

type run struct {
	t testing.TB
	b bytes.Buffer
	w *journal.Writer
	n int
}

func newRun(t testing.TB) *run {
	c, err := cluster.New([]cluster.Node{
		{ID: "a0", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}},
		{ID: "t0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t}
	r.w = journal.NewWriter(&r.b, journal.Header{Policy: "sia", Start: start, Round: time.Minute, Cluster: c})
	return r
}

func (r *run) submit(d time.Duration, id job.ID) {
	r.w.Event(at(d), scheduler.Submitted{Spec: &job.Spec{
		ID: id, GPUs: 2, MaxGPUs: 8, Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 128, Max: 4096},
	}})
}

func (r *run) report(d time.Duration, id job.ID) {
	r.w.Event(at(d), scheduler.Reported{Report: job.Report{Job: id, Interval: 30 * time.Second}})
}

func (r *run) exit(d time.Duration, id job.ID, o scheduler.Outcome, detail string) {
	r.w.Event(at(d), scheduler.Exited{Job: id, Outcome: o, Detail: detail})
}

// A decided is one job of a round; holds is what it holds after it, and change
// that this is new.
type decided struct {
	id     job.ID
	why    policy.Reason
	holds  cluster.Configuration
	node   cluster.NodeID
	change bool
}

func (r *run) round(d time.Duration, price float64, jobs ...decided) {
	r.n++
	s := &policy.Snapshot{Now: at(d), Round: r.n}
	p := &policy.Plan{Prices: []policy.TypePrice{{Type: "a100", Price: price}}}
	var acts []scheduler.Action
	for _, j := range jobs {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: j.id}})
		got := policy.Decision{Why: j.why, Allocation: cluster.Allocation{Configuration: j.holds}}
		if j.holds.GPUs > 0 {
			got.Placement = cluster.Placement{{Node: j.node, Resources: cluster.Resources{GPUs: j.holds.GPUs}}}
		}
		p.Jobs = append(p.Jobs, got)
		switch {
		case j.change && j.holds.GPUs > 0:
			acts = append(acts, scheduler.Run{Job: j.id, Allocation: got.Allocation, Placement: got.Placement})
		case j.change:
			acts = append(acts, scheduler.Preempt{Job: j.id})
		}
	}
	r.w.Round(s, p, acts)
}

func (r *run) text() string {
	r.t.Helper()
	if err := r.w.Close(); err != nil {
		r.t.Fatal(err)
	}
	return r.b.String()
}

// story is the life of cifar10-17 beside one other job.
func story(t testing.TB) string {
	r := newRun(t)
	m := time.Minute
	two, four, rtx := config(1, 2, "a100"), config(1, 4, "a100"), config(1, 4, "t4")
	price := policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 1.2, Limit: 1.8}
	big := decided{id: "bert-1", why: policy.Reason{Kind: policy.AsPlanned, Value: 6}, holds: config(1, 8, "a100"), node: "a0"}
	r.submit(0, "bert-1")
	first := big
	first.change, first.why.Kind = true, policy.Started
	r.round(m, 0.5, first)
	r.submit(10*m, "cifar10-17")
	r.round(10*m, 1.5, big, decided{id: "cifar10-17", why: policy.Reason{Kind: policy.WaitProfile}})
	r.w.Event(at(13*m), scheduler.Profiled{Job: "cifar10-17"})
	r.round(13*m, 1.8, big, decided{id: "cifar10-17", why: price})
	price.Limit = 1.7
	r.round(14*m, 1.7, big, decided{id: "cifar10-17", why: price})
	r.round(15*m, 1.7, big, decided{id: "cifar10-17", why: policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "a100"), Value: 0, Limit: 1}})
	r.exit(16*m+30*time.Second, "bert-1", scheduler.Done, "")
	r.round(17*m, 0.2, decided{"cifar10-17", policy.Reason{Kind: policy.Started, Value: 2}, two, "a0", true})
	r.report(18*m, "cifar10-17") // trained from 17m30s
	r.round(20*m, 0.2, decided{"cifar10-17", policy.Reason{Kind: policy.Grown, Config: two, Value: 3.5, Limit: 2}, four, "a0", true})
	r.report(21*m, "cifar10-17") // trained from 20m30s
	r.round(21*m, 0.2, decided{"cifar10-17", policy.Reason{Kind: policy.AsPlanned, Value: 3.5}, four, "a0", false})
	r.exit(30*m, "cifar10-17", scheduler.Lost, "node a0 failed")
	r.round(31*m, 0.2, decided{"cifar10-17", policy.Reason{Kind: policy.Started, Value: 1.5}, rtx, "t0", true})
	r.report(32*m, "cifar10-17")
	r.round(40*m, 0.9, decided{"cifar10-17", policy.Reason{Kind: policy.WaitTurn, Value: 300, Limit: 300}, cluster.Configuration{}, "", true})
	r.round(45*m, 0.9, decided{"cifar10-17", policy.Reason{Kind: policy.Moved, Config: rtx, Value: 3.5, Limit: 1.5}, four, "a0", true})
	r.round(46*m, 0.9, decided{"cifar10-17", policy.Reason{Kind: policy.Shrunk, Config: four, Value: 0.6, Limit: 0.9}, two, "a0", true})
	r.report(47*m, "cifar10-17")
	r.exit(60*m, "cifar10-17", scheduler.Done, "")
	r.submit(61*m, "cifar10-2")
	return r.text()
}

func reader(t testing.TB, text string) *journal.Reader {
	t.Helper()
	r, err := journal.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t testing.TB, s *Story, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What a job had and lost with a node is said to be lost, until a round takes other GPUs from it.
func TestAt_says_what_was_lost(t *testing.T) {
	text := story(t)
	for at, want := range map[time.Duration]string{
		30*time.Minute + 30*time.Second: "\n  changed    30s ago it lost 4 a100 GPUs, because node a0 failed; it continues from its last checkpoint\n",
		35 * time.Minute:                "\n  before     4 a100 GPUs, lost 5m00s ago: node a0 failed\n",
		42 * time.Minute:                "cifar10-17 was preempted 2m00s ago: jobs take turns",
		time.Hour:                       "\n  held       2 a100 GPUs\n",
	} {
		s, err := At(reader(t, text), "cifar10-17", at)
		if got := render(t, s, err); !strings.Contains(got, want) {
			t.Errorf("at %v: %s\nwant %q", at, got, want)
		}
	}
}

func TestLife(t *testing.T) {
	s, err := Life(reader(t, story(t)), "cifar10-17")
	got := render(t, s, err)
	want := `cifar10-17 under sia

     0h10m00s  submitted, asking for 2 GPUs of any type (accepts 1 to 8), batch size 128 to 4096
     0h10m00s  waits: its speed on one GPU of each type is not measured yet
     0h13m00s  profiled on one GPU of each type, which took 3m00s
     0h13m00s  waits: no GPU of its best type is free, because all 8 a100 GPUs are held by a job that gains more from them (bert-1)
     0h15m00s  still waits: it needs at least 1 a100 GPU, and none is free
     0h17m00s  started on 2 a100 GPUs, 7m00s after its submission: enough GPUs were free
     0h20m00s  grew from 2 to 4 a100 GPUs: more GPUs make it 1.75 times as fast
     0h30m00s  lost 4 a100 GPUs: node a0 failed; it continues from its last checkpoint
     0h31m00s  resumed on 4 t4 GPUs after 1m00s without GPUs: enough GPUs were free
     0h40m00s  preempted: jobs take turns, and it had GPUs for 5m00s of the 5m00s since it was submitted; no other job got its 4 t4 GPUs
     0h45m00s  resumed on 4 a100 GPUs after 5m00s without GPUs: another GPU type makes it 2.33 times as fast
     0h46m00s  was shrunk from 4 to 2 a100 GPUs: other jobs gain more from the GPUs that were taken from it
     1h00m00s  completed, 50m00s after submission

Completed after 50m00s: 3m00s profiling, 10m00s waiting, 37m00s with GPUs.
It held 1.90 GPU-hours; 0.17 of them went into its start and 4 restarts.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// 3 min × 2 + 10 min × 4 + 9 min × 4 + 1 min × 4 + 14 min × 2 = 114 GPU-min;
	// lost: 0.5 × 2 + 0.5 × 4 + 0.5 × 4 + 1 × 4 + 0.5 × 2 = 10 GPU-min.
	if got, want := s.Totals.GPUHours*60, 114.0; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("GPU-minutes: got %v, want %v", got, want)
	}
	if got, want := s.Totals.LostHours*60, 10.0; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("lost GPU-minutes: got %v, want %v", got, want)
	}
}

func TestAt(t *testing.T) {
	text := story(t)
	for name, c := range map[string]struct {
		at   time.Duration
		want string
	}{
		"waiting": {14*time.Minute + 30*time.Second, `cifar10-17, 14m30s after the start of the recording, under sia

cifar10-17 has been waiting 1m30s: no GPU of its best type is free, because all 8 a100 GPUs are held by a job that gains more from them (bert-1).

  asked      2 GPUs of any type (accepts 1 to 8), batch size 128 to 4096
  cluster    0 of 8 a100 GPUs free, 4 of 4 t4 GPUs free; 1 job runs, 1 waits
  afterwards its record shows that 2m30s later it started on 2 a100 GPUs, because enough GPUs were free
`},
		"running": {25 * time.Minute, `cifar10-17, 25m00s after the start of the recording, under sia

cifar10-17 has been running on 4 a100 GPUs for 5m00s. It grew from 2 GPUs because more GPUs make it 1.75 times as fast.

  asked      2 GPUs of any type (accepts 1 to 8), batch size 128 to 4096
  cluster    4 of 8 a100 GPUs free, 4 of 4 t4 GPUs free; 1 job runs, 0 wait
  afterwards its record shows that 5m00s later it lost 4 a100 GPUs, because node a0 failed; it continues from its last checkpoint
`},
		"after the end of the recording": {100 * time.Hour, `cifar10-17, 4d04h after the start of the recording, under sia

cifar10-17 completed 4d03h ago.

  asked      2 GPUs of any type (accepts 1 to 8), batch size 128 to 4096
  held       2 a100 GPUs
`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := At(reader(t, text), "cifar10-17", c.at)
			if diff := cmp.Diff(c.want, render(t, s, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAt_in_every_phase(t *testing.T) {
	text := story(t)
	m := time.Minute
	for _, c := range []struct {
		id              job.ID
		at              time.Duration
		phase, sentence string
		note            string
	}{
		{"cifar10-17", -m, "not submitted", "cifar10-17 had not been submitted yet. It was submitted 10m00s later.", ""},
		{"cifar10-17", 9 * m, "not submitted", "cifar10-17 had not been submitted yet. It was submitted 1m00s later.", ""},
		{"cifar10-17", 12 * m, "profiling", "cifar10-17 has been in profiling for 2m00s: its speed on one GPU of each type is not measured yet", ""},
		{"cifar10-17", 17*m + 10*time.Second, "restoring", "cifar10-17 got 2 a100 GPUs 10s ago because enough", ""},
		{"cifar10-17", 30*m + time.Second, "waiting", "cifar10-17 has been waiting 1s: ", ""},
		{"cifar10-17", 41 * m, "waiting", "cifar10-17 was preempted 1m00s ago: jobs take turns", ""},
		{"cifar10-17", 60 * m, "completed", "cifar10-17 completed 0s ago.", ""},
		{"cifar10-2", 99 * m, "waiting", "cifar10-2 has been waiting 0s: the next round decides on it", "The recording ends at 1h01m00s; this is the state at its end."},
	} {
		s, err := At(reader(t, text), c.id, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if s.Moment.Phase != c.phase || !strings.HasPrefix(s.Moment.Sentence, c.sentence) || s.Note != c.note {
			t.Errorf("%s at %v: got %s, %q, note %q", c.id, c.at, s.Moment.Phase, s.Moment.Sentence, s.Note)
		}
	}
}

func TestAt_names_those_who_offer_more(t *testing.T) {
	r := newRun(t)
	offer := func(id job.ID, value float64, typ cluster.GPUType) decided {
		r.submit(0, id)
		return decided{id: id, why: policy.Reason{Kind: policy.WaitPrice, Config: config(1, 1, typ), Value: value, Limit: 9}}
	}
	r.round(time.Minute, 9, offer("mine", 1, "a100"), offer("more", 2, "a100"), offer("less", 0.5, "a100"), offer("other", 3, "t4"))
	s, err := At(reader(t, r.text()), "mine", time.Minute)
	if err != nil || !strings.Contains(s.Moment.Sentence, "1 job that gains more from a100 GPUs comes first (more).") {
		t.Errorf("got %v, %v", s, err)
	}
	if want := "its record ends here, without a start"; s.Moment.Next != want {
		t.Errorf("next: got %q, want %q", s.Moment.Next, want)
	}
}

// A confined job is told of the nodes that it may use. Some policies count free GPUs of the whole type, so no number is given.
func TestShort_confined(t *testing.T) {
	s := &explainContext{spec: &job.Spec{GPUs: 8, Parts: []job.Part{{Nodes: []cluster.NodeID{"a0"}}}}, why: policy.Reason{Config: config(1, 8, "a100"), Value: 3, Limit: 8}}
	if got, want := short(s), "it needs 8 a100 GPUs, and too few are free on the nodes that it may use"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := scattered(s), ", but the nodes that it may use have no room for it"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at its end", got, want)
	}
	s.spec.Parts = nil
	if got := short(s) + scattered(s); strings.Contains(got, "may use") {
		t.Errorf("a job that may use all nodes: %q", got)
	}
}

func TestAt_names_those_ahead(t *testing.T) {
	r := newRun(t)
	place := func(id job.ID, why policy.Reason) decided {
		r.submit(0, id)
		return decided{id: id, why: why}
	}
	order := func(ahead float64) policy.Reason {
		return policy.Reason{Kind: policy.WaitOrder, Value: ahead, Limit: 2}
	}
	r.round(time.Minute, 9, place("mine", order(4)), place("c", order(2)), place("b", order(1)), place("later", order(5)),
		place("a", policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 2, "a100"), Limit: 2}), place("d", order(3)))
	s, err := At(reader(t, r.text()), "mine", time.Minute)
	if want := "4 jobs are ahead of it in the queue (a, b, c and 1 more), and "; err != nil || !strings.Contains(s.Moment.Sentence, want) {
		t.Errorf("got %v, %v, want %q", s.Moment.Sentence, err, want)
	}
}

// Who lost GPUs hears who got them, in the line of its life and on the page.
func TestWho_got_the_GPUs_is_named(t *testing.T) {
	r := newRun(t)
	one, two, four := config(1, 1, "a100"), config(1, 2, "a100"), config(1, 4, "a100")
	starts := policy.Reason{Kind: policy.Started, Value: 1}
	r.submit(0, "mine")
	r.submit(0, "other")
	r.submit(0, "elsewhere")
	r.round(time.Minute, 1, decided{"mine", starts, four, "a0", true})
	r.round(2*time.Minute, 1, decided{"mine", policy.Reason{Kind: policy.Shrunk, Config: four, Value: 1, Limit: 2}, two, "a0", true},
		decided{"other", starts, one, "a0", true}, decided{"elsewhere", starts, one, "t0", true})
	r.round(3*time.Minute, 1, decided{"mine", policy.Reason{Kind: policy.WaitNoCapacity, Config: one, Limit: 1}, none, "", true},
		decided{"other", policy.Reason{Kind: policy.Grown, Config: one, Value: 3, Limit: 1}, config(1, 3, "a100"), "a0", true})
	text := r.text()
	life, err := Life(reader(t, text), "mine")
	got := render(t, life, err)
	for _, want := range []string{"other jobs gain more from the GPUs that were taken from it; other started on 1 of its previous GPUs\n", "preempted: other got its 2 a100 GPUs\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %q", got, want)
		}
	}
	page, err := At(reader(t, text), "mine", 3*time.Minute)
	if got := render(t, page, err); !strings.Contains(got, "mine was preempted 0s ago: other got its 2 a100 GPUs.") || page.Moment.Takers[0].Job != "other" {
		t.Error(got)
	}
}

// A job that ended held its last GPUs until then: no other job took them from it.
func TestWho_got_the_GPUs_of_a_job_that_ended(t *testing.T) {
	r := newRun(t)
	two, four, starts := config(1, 2, "a100"), config(1, 4, "a100"), policy.Reason{Kind: policy.Started, Value: 1}
	r.submit(0, "mine")
	r.submit(0, "other")
	r.round(time.Minute, 1, decided{"mine", starts, four, "a0", true})
	r.round(2*time.Minute, 1, decided{"mine", policy.Reason{Kind: policy.Shrunk, Config: four, Value: 1, Limit: 2}, two, "a0", true}, decided{"other", starts, two, "a0", true})
	r.exit(3*time.Minute, "mine", scheduler.Done, "")
	page, err := At(reader(t, r.text()), "mine", 4*time.Minute)
	if got := render(t, page, err); !strings.Contains(got, "  held       2 a100 GPUs\n") {
		t.Error(got)
	}
}

func TestUnknownJob(t *testing.T) {
	_, err := Life(reader(t, story(t)), "cifar10-71")
	if _, ok := errors.AsType[*UnknownJobError](err); !ok {
		t.Fatalf("got %v, want an UnknownJobError", err)
	}
	want := "explain: job cifar10-71: not in this journal; the closest names are cifar10-17, cifar10-2, bert-1"
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := At(reader(t, newRun(t).text()), "x", 0); err == nil || !strings.HasSuffix(err.Error(), "which has no jobs") {
		t.Errorf("got %v", err)
	}
}

// While a run goes on, times count to the present, and a job of which the backend sees processes runs,
// although nobody has reported that it trains.
func TestLive_counts_to_the_present(t *testing.T) {
	text := story(t)
	restores, _, _ := strings.Cut(text, `{"t":1080,"report":["cifar10-17"`)
	for name, c := range map[string]struct {
		text     string
		seen     LiveState
		id       job.ID
		sentence string
	}{
		"waits":    {text, LiveState{At: 63 * time.Minute}, "cifar10-2", "cifar10-2 has been waiting 2m00s: "},
		"starts":   {restores, LiveState{At: 20 * time.Minute}, "cifar10-17", "cifar10-17 got 2 a100 GPUs 3m00s ago because "},
		"runs":     {restores, LiveState{At: 20 * time.Minute, Up: true}, "cifar10-17", "cifar10-17 has been running on 2 a100 GPUs for 3m00s. It started because "},
		"complete": {text, LiveState{At: 70 * time.Minute, Up: true}, "cifar10-17", "cifar10-17 completed 10m00s ago."},
	} {
		s, err := Live(reader(t, c.text), c.id, c.seen)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(s.Moment.Sentence, c.sentence) || s.Note != "" || s.Moment.Next != "" {
			t.Errorf("%s: got %q, note %q, next %q, want %q", name, s.Moment.Sentence, s.Note, s.Moment.Next, c.sentence)
		}
	}
}

func TestTruncatedJournal_tells_the_life_so_far(t *testing.T) {
	text := story(t)
	cut := strings.Index(text, `{"t":2700`) + 20
	s, err := Life(reader(t, text[:cut]), "cifar10-17")
	got := render(t, s, err)
	if !strings.Contains(got, "Not over when the recording ends: 3m00s profiling, 5m00s waiting") ||
		!strings.Contains(got, "Note: The journal stops at 0h40m00s without an end: ") {
		t.Error(got)
	}
	damaged := strings.Replace(text, `"why":["grown"`, `"why":["kept"`, 1)
	if _, err := Life(reader(t, damaged), "cifar10-17"); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("damaged: got %v", err)
	}
}

func TestStory_as_JSON(t *testing.T) {
	s, err := At(reader(t, story(t)), "cifar10-17", 14*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	s.Moment.Sentence, s.Moment.Next = "…", "…"
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"job":"cifar10-17","policy":"sia","asked":"2 GPUs of any type (accepts 1 to 8), batch size 128 to 4096",` +
		`"moment":{"at":840,"phase":"waiting","since":780,"reason":"waiting: price too high","sentence":"…","details":"others gain 1.42 times as much per a100 GPU, compared with its best choice of 2 a100 GPUs",` +
		`"cluster":{"types":[{"type":"a100","gpus":8,"free":0,"price":1.7},{"type":"t4","gpus":4,"free":4}],"running":1,"waiting":1},"next":"…","next_at":1020,"best":{"nodes":1,"gpus":2,"type":"a100"}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// Whatever a journal says, its story is told or refused.
func FuzzStory(f *testing.F) {
	f.Add(story(f), int64(14*time.Minute))
	f.Add(strings.ReplaceAll(story(f), "bert-1", "cifar10-17"), int64(20*time.Minute))
	f.Fuzz(func(t *testing.T, text string, when int64) {
		for _, ask := range []func(*journal.Reader) (*Story, error){
			func(r *journal.Reader) (*Story, error) { return Life(r, "cifar10-17") },
			func(r *journal.Reader) (*Story, error) { return At(r, "cifar10-17", time.Duration(when)) },
		} {
			r, err := journal.NewReader(strings.NewReader(text))
			if err != nil {
				return
			}
			s, err := ask(r)
			if err != nil {
				continue
			}
			if render(t, s, nil) == "" {
				t.Error("an empty story")
			}
			if _, err := json.Marshal(s); err != nil {
				t.Error(err)
			}
		}
	})
}

// The sentence says why a job is not preemptible, if that is known: a program on one machine that has not connected yet is not, and
// its user may have asked for it.
func TestNot_preemptible(t *testing.T) {
	silent := &job.Spec{ID: "j", GPUs: 1, NonPreemptive: true, NoCheckpoint: true}
	declared := &job.Spec{ID: "j", GPUs: 1, NonPreemptive: true}
	why := policy.Reason{Kind: policy.PinnedNonPreempt}
	for _, c := range []struct {
		s           *job.Spec
		p           Preemption
		asked, text string
	}{
		{silent, NotYet, "exactly 1 GPU of any type, not preemptible until its program connects", "it is not preemptible yet: its program has not connected with the client that saves checkpoints"},
		{silent, Forbidden, "exactly 1 GPU of any type, not preemptible", "it was submitted with --no-preempt, and keeps its GPUs until it ends"},
		{silent, NotKnown, "exactly 1 GPU of any type, not preemptible", "it is not preemptible and has no checkpoints, so it keeps its GPUs until it ends"},
		{declared, NotKnown, "exactly 1 GPU of any type, not preemptible", "it was submitted as not preemptible, and keeps its GPUs until it ends"},
	} {
		x := exampleContext(why)
		x.spec, x.preemption = c.s, c.p
		if asked, text := asked(c.s, c.p), x.because(); asked != c.asked || text != c.text {
			t.Errorf("got %q and %q, want %q and %q", asked, text, c.asked, c.text)
		}
	}
}

// The name of a cap may look like a month.
func TestCapOf(t *testing.T) {
	for text, want := range map[string]string{
		"user a in 2026-11":          "user a in November 2026",
		"class x in 2026 in 2026-02": "class x in 2026 in February 2026",
		"queue b":                    "queue b",
	} {
		s := explainContext{why: policy.Reason{Config: cluster.Configuration{GPUType: cluster.GPUType(text)}}}
		if got, _ := capOf(&s); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
