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
		"sim.whole-rounds": "true", "sim.late-regimes": "true", "sim.resume-loss": "20s", "sim.overrun": "1.5",
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
			worst, off := 0.0, 0
			for _, j := range run.Result.Jobs {
				id, _ := strconv.Atoi(string(j.ID))
				d := math.Abs(j.JCT - want.JCTs[id])
				worst = max(worst, d)
				if d > 0.01 {
					off++
					if off < 6 {
						t.Logf("job %d: %v, want %v", id, j.JCT, want.JCTs[id])
					}
				}
			}
			t.Logf("makespan %v want %v; %d off, worst %v; rounds %d want %d; refused %v", run.Result.Summary.Makespan, want.Makespan, off, worst, run.Result.Summary.Rounds, len(want.Rounds), run.Refused)
		})
	}
}
