package experiments

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/builtin"
)

// A recording is a run of the public Shockwave simulator.
type recording struct {
	Makespan float64   `json:"makespan_s"`
	JCTs     []float64 `json:"jct_s"`
	Rho      []float64 `json:"ftf_static"`
	Rounds   [][]int   `json:"per_round_jobs"`
}

// recorded is the policy of a recording: it runs the jobs that were run.
type recorded struct {
	rounds [][]int
	next   int
}

// Plan implements policy.Policy.
func (r *recorded) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	if r.next >= len(r.rounds) {
		return p, nil
	}
	runs := make(map[job.ID]bool)
	for _, id := range r.rounds[r.next] {
		runs[job.ID(strconv.Itoa(id))] = true
	}
	r.next++
	for i, j := range s.Jobs {
		if runs[j.ID] {
			p.Jobs[i].Allocation.Configuration = cluster.Configuration{Nodes: j.GPUs, GPUs: j.GPUs, GPUType: "v100"}
		}
	}
	return p, nil
}

func publicShockwave(t *testing.T) *config.Config {
	t.Helper()
	c := config.Default()
	for key, value := range map[string]string{
		"trace":    testdata.Path(t, "shockwave/traces/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.csv"),
		"profiles": testdata.Path(t, "shockwave"), "profiles.table": "tacc", "cluster": "v100:32x1", "round": "120s",
		"estimate.mode": "oracle", "policy": "fifo",
		"sim.whole-rounds": "true", "sim.late-regimes": "true", "sim.resume-loss": "20s",
	} {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Where the public simulator's jobs of each round run here, every job ends when it
// ended there.
func TestPublishedRoundsGivePublishedTimes(t *testing.T) {
	for _, name := range []string{"allox", "finish_time_fairness", "gandiva_fair", "max_min_fairness", "max_sum_throughput_perf", "min_total_duration", "shockwave"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(testdata.Path(t, "shockwave/published_results/tacc_32gpus."+name+".simulation.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want recording
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			c := publicShockwave(t)
			in, err := Load(c, osFiles())
			if err != nil {
				t.Fatal(err)
			}
			run, err := simulate(t.Context(), c, in, builtin.Entry{Name: "fifo"}, &recorded{rounds: want.Rounds}, nil)
			if err != nil {
				t.Fatal(err)
			}
			comparePublished(t, run, &want)
			comparePublishedRho(t, run, in, &want)
		})
	}
}

// comparePublished compares times, which were published to the millisecond.
func comparePublished(t *testing.T, run *Run, want *recording) {
	t.Helper()
	if got := run.Result.Summary.Rounds; got != len(want.Rounds) || len(run.Result.Jobs) != len(want.JCTs) {
		t.Errorf("%d jobs in %d rounds, want %d in %d", len(run.Result.Jobs), got, len(want.JCTs), len(want.Rounds))
	}
	if got := run.Result.Summary.Makespan; math.Abs(got-want.Makespan) > 1e-6 {
		t.Errorf("makespan %v, want %v", got, want.Makespan)
	}
	for _, j := range run.Result.Jobs {
		if i, _ := strconv.Atoi(string(j.ID)); math.Abs(j.JCT-want.JCTs[i]) > 0.001 {
			t.Errorf("job %s: JCT %v, want %v", j.ID, j.JCT, want.JCTs[i])
		}
	}
}

// comparePublishedRho compares static rho, which was published to five digits and
// is the one that runs of such traces have.
func comparePublishedRho(t *testing.T, run *Run, in *Inputs, want *recording) {
	t.Helper()
	for i, rho := range staticRhos(run, in) {
		at, _ := strconv.Atoi(string(run.Result.Jobs[i].ID))
		if own := run.Result.Jobs[i].Rho; math.Abs(rho-want.Rho[at]) > 1e-5 || math.Abs(own-rho) > 1e-12 {
			t.Errorf("job %d: static rho %v, and %v of the run, want %v", at, rho, own, want.Rho[at])
		}
	}
}

func TestTraceOf(t *testing.T) {
	for _, tc := range []struct{ trace, format, wantFormat, wantFile string }{
		{"jobs.csv", "", "", "jobs.csv"},
		{"shockwave:jobs.csv", "", "shockwave", "jobs.csv"},
		{"shockwave:a:b.csv", "", "shockwave", "a:b.csv"},
		{"c:jobs.csv", "", "", "c:jobs.csv"},
		{"shockwave:jobs.csv", "gavel", "gavel", "shockwave:jobs.csv"},
	} {
		c := config.Default()
		c.Trace, c.Format = tc.trace, tc.format
		if format, file := traceOf(c); format != tc.wantFormat || file != tc.wantFile {
			t.Errorf("%s: %q of %q, want %q of %q", tc.trace, file, format, tc.wantFile, tc.wantFormat)
		}
	}
}
