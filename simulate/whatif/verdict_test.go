package whatif_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	settings "github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	simrun "github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// recorded simulates a policy and returns its journal, and how to make the policy again.
func recorded(t testing.TB, name, settingsOf string, seed uint64) ([]byte, whatif.Options) {
	t.Helper()
	c := settings.Default()
	for kv := range strings.SplitSeq(fmt.Sprintf("policy=%s;seed=%d;%s", name, seed, settingsOf), ";") {
		key, value, _ := strings.Cut(kv, "=")
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := simrun.Load(c, simrun.Files{})
	if err != nil {
		t.Fatal(err)
	}
	h := simrun.Header(c, in, name, "test")
	var out bytes.Buffer
	w := journal.NewWriter(&out, h)
	if _, err := simrun.Simulate(t.Context(), c, in, name, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := simrun.Again(&h, "", simrun.Files{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler}
}

// traces are settings of runs.
var traces = map[string]string{
	"philly":  "generate.jobs=60;generate.span=3h;cluster=t4:4x4,rtx:2x8,a100:1x8",
	"rigid":   "generate.jobs=60;generate.span=3h;cluster=a100:4x8;jobs.rigid=1",
	"spike":   "generate.kind=spike;generate.jobs=40;cluster=t4:4x4,a100:2x8",
	"synergy": "generate.kind=synergy-static;generate.jobs=60;generate.multi-gpu=true;cluster=v100:4x8/24c/500g",
	"lyra":    "generate.kind=lyra-testbed;generate.jobs=60;cluster=v100:4x8",
	"nodes":   "generate.jobs=60;generate.span=3h;cluster=t4:4x4,rtx:2x8,a100:1x8;sim.node-mtbf=6h;sim.repair=30m",
	"crashes": "generate.kind=lyra-testbed;generate.jobs=60;cluster=v100:4x8;sim.gpu-mtbf=100h;jobs.checkpoints=0.5",
	"away":    "generate.jobs=60;generate.span=3h;cluster=t4:4x4,rtx:2x8,a100:1x8;sim.maintenance=t4-4-0+t4-4-1@1h-3h",
	"sizes":   "generate.jobs=60;generate.span=3h;cluster=t4:4x4,rtx:2x8,a100:1x8;jobs.wrong-size=0.5",
}

// TestTrust_of_own_policy: a run that is simulated again under its own policy has the same mean JCT, within
// Tolerance. In about one of a hundred runs a small difference decides otherwise, and all that follows
// differs: so one of the few here may be off.
func TestTrust_of_own_policy(t *testing.T) {
	type pair struct{ policy, trace string }
	var pairs []pair
	for _, name := range []string{"fifo", "srtf", "las", "synergy", "sia", "oxgang"} {
		for _, trace := range slices.Sorted(maps.Keys(traces)) {
			pairs = append(pairs, pair{name, trace})
		}
	}
	seed := draws.Seed(t)
	off, runs := "", draws.Some(t, 6, pairs)
	wrong := 0
	for _, x := range runs {
		run, o := recorded(t, x.policy, traces[x.trace], seed%1000+1)
		r, err := journal.NewReader(bytes.NewReader(run))
		if err != nil {
			t.Fatal(err)
		}
		f, err := whatif.Compare(t.Context(), r, o)
		if err != nil {
			t.Fatal(err)
		}
		got := history.Trust(f)
		t.Logf("%-8s %-8s JCT %+.4f, wait %+.4f, utilisation %+.4f; of single jobs %.3f on average", x.policy, x.trace, got.JCT, got.Wait, got.Utilisation, f.Mean)
		if math.Abs(got.JCT) > metrics.Tolerance {
			off += fmt.Sprintf("\n%s on %s: %+v", x.policy, x.trace, got)
			wrong++
		}
	}
	if wrong > max(1, len(runs)/20) {
		t.Errorf("seed %d: %d of %d runs are off:%s", seed, wrong, len(runs), off)
	}
}

// judged simulates a run again under its own policy.
func judged(t *testing.T, policy, settingsOf string) (*whatif.Fidelity, *metrics.Trust) {
	t.Helper()
	run, o := recorded(t, policy, settingsOf, 1)
	r, err := journal.NewReader(bytes.NewReader(run))
	if err != nil {
		t.Fatal(err)
	}
	f, err := whatif.Compare(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return f, history.Trust(f)
}

// TestTrust_of_jobs_of_wrong_sizes: a job ends when its work is done, whatever it stated of it.
func TestTrust_of_jobs_of_wrong_sizes(t *testing.T) {
	for _, policy := range []string{"fifo", "srtf"} {
		if f, got := judged(t, policy, traces["sizes"]); !got.Trusted || math.Abs(got.JCT) > 0.01 || f.Mean > 0.01 {
			t.Errorf("%s: %+v, single jobs off by %.3f on average; want all within 0.01", policy, got, f.Mean)
		}
	}
}

// TestTrust_of_failures: nodes leave and come back, and jobs fail, when they did in the run. Whether a
// job goes on from where it was or from an earlier checkpoint is as it was, too.
func TestTrust_of_failures(t *testing.T) {
	for _, trace := range []string{"nodes", "crashes", "away"} {
		f, got := judged(t, "fifo", traces[trace])
		if f.Lost == 0 || !got.Trusted || f.Mean > 0.001 {
			t.Errorf("%s: %d losses, %+v, single jobs off by %.4f on average; want some, and at most 0.001", trace, f.Lost, got, f.Mean)
		}
	}
}

// TestTrust_of_loans: the owner of nodes on loan lends as many as it did in the run.
func TestTrust_of_loans(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a long run")
	}
	f, got := judged(t, "oxgang", "generate.jobs=60;generate.span=3h;cluster=t4:2x4,rtx:4x8/loan")
	if f.Nodes < 20 || math.Abs(got.JCT) > metrics.Tolerance {
		t.Errorf("%d changes of nodes, %+v; want many, and a mean JCT within %v", f.Nodes, got, metrics.Tolerance)
	}
}

// TestTrust: the causes are named that may be ones, only where the simulation is not trusted.
func TestTrust(t *testing.T) {
	good := whatif.Fidelity{
		Jobs: []whatif.Match{{Modelled: true}}, Round: journal.Seconds(time.Minute), RealJCT: journal.Seconds(time.Hour), PredictedJCT: journal.Seconds(61 * time.Minute),
		RealWait: journal.Seconds(time.Minute), PredictedWait: journal.Seconds(110 * time.Second), RealUtilisation: 0.5, PredictedUtilisation: 0.5,
	}
	if got := history.Trust(&good); !got.Trusted || got.Wait < 0.8 || got.Causes != nil {
		t.Errorf("%+v: want it trusted, with the error of the wait", got)
	}
	for want, change := range map[string]func(*whatif.Fidelity){
		"nodes that joined or left: 3":                        func(f *whatif.Fidelity) { f.PredictedJCT, f.Nodes = journal.Seconds(50*time.Minute), 3 },
		"jobs that were cancelled or failed":                  func(f *whatif.Fidelity) { f.PredictedWait, f.Ended = journal.Seconds(3*time.Minute), 2 },
		"jobs running or waiting when the recording began: 1": func(f *whatif.Fidelity) { f.PredictedUtilisation, f.Restored = 0.4, 1 },
		"jobs with reservations: 4":                           func(f *whatif.Fidelity) { f.PredictedUtilisation, f.Reserved = 0.6, 4 },
		"jobs that did not end in the simulation: 1":          func(f *whatif.Fidelity) { f.Jobs = append(f.Jobs, whatif.Match{Predicted: -1, Modelled: true}) },
		"jobs that never reported their speed: 1":             func(f *whatif.Fidelity) { f.Jobs = []whatif.Match{{}, {Predicted: -1, Modelled: true}} },
		"no job was completed":                                func(f *whatif.Fidelity) { f.Jobs = nil },
	} {
		f := good
		change(&f)
		if got := history.Trust(&f); got.Trusted || !strings.Contains(strings.Join(got.Causes, "; "), want) {
			t.Errorf("%+v: want it not trusted, because %s", got, want)
		}
	}
}
