package explaintest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	settings "github.com/oxgang/oxgang/simulate/config"
	simrun "github.com/oxgang/oxgang/simulate/run"
)

// traces are the settings of loaded runs, by name.
var traces = map[string]map[string]string{
	"overload": {"cluster": "t4:4x4,rtx:2x8", "generate.jobs": "40", "generate.span": "40m", "horizon": "75m"},
	"rigid":    {"cluster": "t4:4x4,rtx:1x8", "generate.jobs": "30", "generate.span": "40m", "horizon": "75m", "jobs.rigid": "1"},
	"prior":    {"cluster": "t4:4x4,rtx:1x8", "generate.jobs": "30", "generate.span": "40m", "horizon": "75m"}, // of three priorities
	"elastic":  {"cluster": "t4:4x4,a100:1x8", "generate.kind": "spike", "generate.jobs": "30", "generate.span": "30m", "horizon": "75m"},
	"cpus":     {"cluster": "v100:2x8/24c/500g", "generate.kind": "synergy-static", "generate.jobs": "40", "generate.multi-gpu": "true", "horizon": "75m"},
	"rent":     {"cluster": "t4:4x4/rent,rtx:1x8/rent", "generate.jobs": "40", "generate.span": "40m", "horizon": "75m", "sim.start": "5m"},
	"large":    {"cluster": "t4:625x4,rtx:625x8,a100:312x8", "generate.jobs": "10000", "generate.span": "2m", "horizon": "4m", "jobs.max-gpus": "16"},
	"loans":    {"cluster": "v100:2x8,t4:4x8/loan", "generate.kind": "lyra-testbed", "generate.jobs": "90", "generate.span": "2h", "horizon": "3h"},
}

// A round is what a policy was shown, and what it decided.
type round struct {
	s     *policy.Snapshot
	p     *policy.Plan
	nodes *cluster.Cluster // after all events at the time of the round: nodes on loan can come right after it
}

// rounds collects the rounds of a run in which the policy is shown all jobs.
type rounds struct{ all []round }

func (r *rounds) Event(now time.Time, ev scheduler.Event) {
	if e, is := ev.(scheduler.NodesChanged); is && len(r.all) > 0 {
		if last := &r.all[len(r.all)-1]; now.Equal(last.s.Now) {
			last.nodes = e.Cluster
		}
	}
}

func (r *rounds) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	r.all = append(r.all, round{s, p, s.Cluster})
}

// A run is one that was simulated, to be explained and to be decided again.
type run struct {
	rounds
	journal []byte
	remake  *simrun.Remake
}

func simulate(t testing.TB, name, trace, seed string) *run {
	t.Helper()
	c := settings.Default()
	set := func(key, value string) {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	set("policy", name)
	set("seed", seed)
	for key, value := range traces[trace] {
		set(key, value)
	}
	if name == "boa" {
		set("set", "boa.budget=12")
	}
	in, err := simrun.Load(c, simrun.Files{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range in.Arrivals {
		if trace == "prior" {
			in.Arrivals[i].Spec.Priority = float64(i % 3)
		}
	}
	r := &run{}
	var out bytes.Buffer
	h := simrun.Header(c, in, name, "test")
	w := journal.NewWriter(&out, h)
	if _, err := simrun.SimulateWatched(t.Context(), c, in, name, simrun.Watch{Whole: true}, w, &r.rounds); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r.journal = out.Bytes()
	if r.remake, err = simrun.Again(&h, "", simrun.Files{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// live returns a run of a scheduler of one machine, from its journal.
func live(t testing.TB, name string) *run {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), "cmd", "oxgang", "testdata", "live", name))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, h := &run{journal: text}, j.Header()
	if r.remake, err = simrun.Again(&h, "", simrun.Files{}); err != nil {
		t.Fatal(err)
	}
	p, placer, err := r.remake.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	so := r.remake.Scheduler
	so.Round = h.Round
	s, err := scheduler.New(p, placer, h.Cluster, so)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), journal.Replay(j), &r.rounds); err != nil {
		t.Fatal(err)
	}
	return r
}

type point struct {
	round int
	job   job.ID
}

// points draws as many points of a run as there are, up to most. Jobs that are being profiled, and
// rounds that kept what was, are left out.
func (r *run) points(seed uint64, most int) []point {
	var all []point
	for k, x := range r.all {
		for i, j := range x.s.Jobs {
			if x.p.Jobs[i].Allocation.IsZero() && j.Phase != job.Profiling && x.p.Refused == "" {
				all = append(all, point{k, j.ID})
			}
		}
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(most, len(all))]
}

// decide returns what is decided in a round with an edited snapshot: a new policy and a new placer are shown all rounds
// before, and then the edit. It returns nil if there is no plan.
func (r *run) decide(t testing.TB, k int, edit *policy.Snapshot) *policy.Plan {
	t.Helper()
	p, placer, err := r.remake.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range r.all[:k] {
		_, _ = plan(t.Context(), p, placer, before.s)
	}
	now, err := plan(t.Context(), p, placer, edit)
	if err == nil && now.Background != nil { // what counts is the next round, with its work done
		then := *edit
		then.Round++
		then.Now = then.Now.Add(then.Length)
		then.Computed = now.Background.Do(t.Context())
		now, err = plan(t.Context(), p, placer, &then)
	}
	if err != nil {
		return nil
	}
	return now
}

// plan asks a policy and a placer for a plan that keeps the rules.
func plan(ctx context.Context, p policy.Policy, placer placement.Placer, s *policy.Snapshot) (*policy.Plan, error) {
	got, err := p.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	policy.FillProportional(s, got)
	if err := policy.Check(s, got); err != nil {
		return nil, err
	}
	if got, err = placer.Place(ctx, s, got); err != nil {
		return nil, err
	}
	return got, policy.CheckPlacement(s, got)
}
