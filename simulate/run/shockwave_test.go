package run

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
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

func (*recorded) Traits() policy.Traits { return policy.Traits{} }

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
			run, err := in.simulate(t.Context(), c, decides{registry.Entry{Name: "fifo"}, &recorded{rounds: want.Rounds}}, Watch{}, nil)
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
	for i, rho := range StaticRhos(run, in) {
		at, _ := strconv.Atoi(string(run.Result.Jobs[i].ID))
		if own := run.Result.Jobs[i].Rho; math.Abs(rho-want.Rho[at]) > 1e-5 || math.Abs(own-rho) > 1e-12 {
			t.Errorf("job %d: static rho %v, and %v of the run, want %v", at, rho, own, want.Rho[at])
		}
	}
}

// A larger share of static jobs contains a smaller one, and a job that is made static
// has the epochs it had, all with the batch size it was submitted with.
func TestStaticShare(t *testing.T) {
	load := func(share string) *Inputs {
		c := publicShockwave(t)
		if err := c.Set("jobs.static", share, "test"); err != nil {
			t.Fatal(err)
		}
		in, err := Load(c, osFiles())
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	none, some, most := load("0"), load("0.4"), load("0.8")
	counts := [3]int{}
	for i := range none.Arrivals {
		was, half, full := &none.Arrivals[i].Spec, &some.Arrivals[i].Spec, &most.Arrivals[i].Spec
		for k, s := range []*job.Spec{was, half, full} {
			if s.Schedule.Mode != job.Static {
				continue
			}
			counts[k]++
			want := []job.Regime{{BatchSize: was.BatchSize, Epochs: was.Schedule.Epochs}}
			if got, err := some.application(s).Regimes(s); err != nil || !slices.Equal(got, want) || !slices.Equal(s.Schedule.Sizes, []int{was.BatchSize}) {
				t.Errorf("job %s: regimes %v and sizes %v (%v), want %v", s.ID, got, s.Schedule.Sizes, err, want)
			}
		}
		if half.Schedule.Mode == job.Static && full.Schedule.Mode != job.Static {
			t.Errorf("job %s is static with a share of 0.4, and not with 0.8", was.ID)
		}
	}
	if counts[0] != 4 || counts[1] < 40 || counts[1] > 62 || counts[2] < 86 || counts[2] > 108 { // of 120
		t.Errorf("%v of 120 jobs are static with shares of 0, 0.4 and 0.8", counts)
	}
}

// What a user wrote down counts its epochs in samples, and goes on to.
func TestKeepBatchOfGivenRegimes(t *testing.T) {
	given := job.BatchSchedule{Mode: job.Given, Epochs: 12, Sizes: []int{32, 64}, Regimes: []job.Regime{{BatchSize: 32, Epochs: 5}, {BatchSize: 64, Epochs: 7}}}
	want := job.BatchSchedule{Mode: job.Given, Epochs: 12, Sizes: []int{32}, Regimes: []job.Regime{{BatchSize: 32, Epochs: 12}}}
	for _, tc := range []struct{ was, want job.BatchSchedule }{{given, want}, {job.BatchSchedule{}, job.BatchSchedule{}}} {
		spec := &job.Spec{BatchSize: 16, Schedule: tc.was}
		if keepBatch(spec); !cmp.Equal(spec.Schedule, tc.want) {
			t.Errorf("got %+v, want %+v", spec.Schedule, tc.want)
		}
	}
}
