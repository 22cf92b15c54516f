package profiles

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// published is a job of Shockwave's profiles.
type published struct {
	Epochs int                `json:"num_epochs"`
	Epoch  int                `json:"samples_per_epoch"`
	RLE    [][2]int           `json:"bs_rle"`
	Times  map[string]float64 `json:"epoch_s_by_bs"`
	Total  float64            `json:"total_s"`
}

func sharedSteps(t *testing.T, rel, table string) workload.Catalog {
	t.Helper()
	f, err := os.Open(testdata.Path(t, rel))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := ReadSteps(f, rel, table)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sharedJobs returns the jobs of a Shockwave trace, with their applications.
func sharedJobs(t *testing.T, name string) (jobs []job.Spec, applications []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] { // job,job_type,total_steps,scale_factor,mode,...
		steps, _ := strconv.ParseFloat(r[2], 64)
		gpus, _ := strconv.Atoi(r[3])
		mode, err := job.ParseScheduleMode(r[4])
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(r[1], "(batch size ")
		local, _ := strconv.Atoi(strings.TrimSuffix(rest, ")"))
		jobs = append(jobs, job.Spec{
			ID: job.ID(r[0]), GPUs: gpus, BatchSize: local * gpus, Target: steps * float64(local),
			Schedule: job.BatchSchedule{Mode: mode},
		})
		applications = append(applications, r[1])
	}
	return jobs, applications
}

// The rules reproduce every published profile: the batch size of each epoch, the
// seconds of an epoch at each, and the exclusive running time.
func TestRegimesArePublished(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "shockwave/profiles"), "*.json"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%d profiles (%v), want 4", len(files), err)
	}
	for _, file := range files {
		base, table, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "_dynamic.")
		t.Run(table+"/"+base, func(t *testing.T) {
			catalog := sharedSteps(t, "shockwave/throughputs_isolated.csv", table)
			jobs, applications := sharedJobs(t, filepath.Join(filepath.Dir(file), "..", "traces", base+"_dynamic.csv"))
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want []published
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			if len(want) != len(jobs) {
				t.Fatalf("%d profiles of %d jobs", len(want), len(jobs))
			}
			for i := range jobs {
				comparePublished(t, catalog[applications[i]], &jobs[i], &want[i])
			}
		})
	}
}

func comparePublished(t *testing.T, app *workload.Application, s *job.Spec, want *published) {
	t.Helper()
	regimes, err := app.Regimes(s)
	if err != nil {
		t.Fatal(err)
	}
	var rle [][2]int
	epochs, total := 0, 0.0
	for _, r := range regimes {
		local := r.BatchSize / s.GPUs
		rle = append(rle, [2]int{local, r.Epochs})
		epochs += r.Epochs
		c := cluster.Configuration{Nodes: s.GPUs, GPUs: s.GPUs, GPUType: "v100"}
		seconds := float64(app.Epoch) / app.Throughput(c, job.BatchSize{Local: local})
		if x := want.Times[strconv.Itoa(local)]; math.Abs(seconds/x-1) > 1e-12 {
			t.Errorf("job %s: %v s an epoch at %d per GPU, want %v", s.ID, seconds, local, x)
		}
		total += seconds * float64(r.Epochs)
	}
	if diff := cmp.Diff(want.RLE, rle); diff != "" || epochs != want.Epochs || app.Epoch != want.Epoch {
		t.Errorf("job %s: %d epochs of %d, want %d of %d; regimes (-want +got):\n%s", s.ID, epochs, app.Epoch, want.Epochs, want.Epoch, diff)
	}
	if math.Abs(total/want.Total-1) > 1e-12 {
		t.Errorf("job %s: %v s in all, want %v", s.ID, total, want.Total)
	}
}

// lm returns a job of LM with 59,675 samples an epoch.
func lm(gpus, batch int, target float64, s job.BatchSchedule) job.Spec {
	return job.Spec{ID: "j", GPUs: gpus, BatchSize: batch, Target: target, Schedule: s}
}

func TestRegimesErrors(t *testing.T) {
	const epoch = 59_675
	catalog := readSteps(t, "one")
	app := catalog["LM (batch size 10)"]
	two := []job.Regime{{BatchSize: 10, Epochs: 2}, {BatchSize: 5, Epochs: 1}}
	for _, tc := range []struct {
		name string
		app  *workload.Application
		s    job.Spec
		want string
	}{
		{"none", app, lm(1, 10, 1, job.BatchSchedule{}), ""},
		{"covers all", app, lm(1, 10, 3*epoch, job.BatchSchedule{Mode: job.Given, Regimes: two}), ""},
		{"covers less", app, lm(1, 10, 4*epoch, job.BatchSchedule{Mode: job.Given, Regimes: two}), "job j: schedule given: 2 regimes cover 3 epochs, want 4: as many as target_samples has"},
		{"covers more", app, lm(1, 10, 2*epoch, job.BatchSchedule{Mode: job.Given, Regimes: two}), "job j: schedule given: 2 regimes cover 3 epochs, want 2: as many as target_samples has"},
		{"an adaptive number of GPUs", app, job.Spec{ID: "j", GPUs: 1, BatchSize: 10, Target: 1, Adaptivity: job.StrongScaling, Schedule: job.BatchSchedule{Mode: job.Static}}, "job j: schedule static: its number of GPUs is adaptive, want a fixed number, because batch sizes are totals"},
		{"unknown mode", app, lm(1, 10, 1, job.BatchSchedule{Mode: 7}), "job j: schedule: mode 7, want at most 4"},
		{"negative epochs", app, lm(1, 10, 1, job.BatchSchedule{Mode: job.Given, Regimes: []job.Regime{{BatchSize: 10, Epochs: -1}}}), "job j: schedule: regime 1: -1 epochs, want 1 to 1000000"},
		{"batch size without throughput", app, lm(1, 20, epoch, job.BatchSchedule{Mode: job.Static}), "job j: schedule static: batch size 20 of LM has no throughput on 1 v100, want one that was measured"},
		{"a rule that leads to one", app, lm(1, 10, 60*epoch, job.BatchSchedule{Mode: job.Accordion}), "job j: schedule accordion: batch size 80 of LM has no throughput on 1 v100, want one that was measured"},
		{"a batch that GPUs cannot share", app, lm(2, 15, epoch, job.BatchSchedule{Mode: job.GNS}), "job j: schedule gns: batch size 15 on 2 GPUs, want a multiple of the GPUs"},
		{"a regime that they cannot share", app, lm(2, 20, epoch, job.BatchSchedule{Mode: job.Given, Regimes: []job.Regime{{BatchSize: 20, Epochs: 1}, {BatchSize: 21, Epochs: 1}}}), "job j: schedule given: 2 regimes cover 2 epochs, want 1: as many as target_samples has"},
		{"no target", app, lm(1, 10, 0, job.BatchSchedule{Mode: job.GNS}), "job j: schedule gns: target of 0 samples is 0 epochs of 59675, want 1 to 1000000 epochs"},
		{"too long", app, lm(1, 10, 1e18, job.BatchSchedule{Mode: job.GNS}), "job j: schedule gns: target of 1e+18 samples is 16756032171582 epochs of 59675, want 1 to 1000000 epochs"},
		{"a model without the rule", catalog["A3C"], lm(1, 1, 8, job.BatchSchedule{Mode: job.GNS}), `job j: schedule gns: no rule for model "A3C", want one of ResNet-18, ResNet-50, Transformer, LM, Recommendation`},
		{"an application without epochs", workload.Steady(1), lm(1, 1, 8, job.BatchSchedule{Mode: job.Static}), `job j: schedule static: application "" counts no epochs, want none of its jobs to have a schedule`},
	} {
		got := ""
		if _, err := tc.app.Regimes(&tc.s); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: got error %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

// A job of two epochs and a half trains for as long: the last epoch ends where
// the target does.
func TestScheduledJobsAlone(t *testing.T) {
	app := readSteps(t, "one")["LM (batch size 10)"] // 800 samples a second at 10, 500 at 5
	s := lm(1, 10, 2.5*59_675, job.BatchSchedule{Mode: job.Given, Regimes: []job.Regime{{BatchSize: 10, Epochs: 1}, {BatchSize: 5, Epochs: 2}}})
	regimes, err := app.Regimes(&s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{59_675, 2 * 59_675, 2.5 * 59_675}, app.EpochEnds(&s, regimes)); diff != "" {
		t.Errorf("ends of epochs (-want +got):\n%s", diff)
	}
	on := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}}
	if got, want := app.Alone(&s, on), 59_675/800.0+1.5*59_675/500; math.Abs(got-want) > 1e-9 {
		t.Errorf("%g s alone, want %g", got, want)
	}
	if got, want := app.Exclusive(regimes, on), 59_675/800.0+2*59_675/500.0; math.Abs(got-want) > 1e-9 {
		t.Errorf("%g s with the last epoch whole, want %g", got, want)
	}
	plain := lm(1, 10, 4000, job.BatchSchedule{})
	if got := app.Alone(&plain, on); got != 5 {
		t.Errorf("%g s alone without a schedule, want 5", got)
	}
}

// Complete fills in batch sizes of all GPUs, and the target of given regimes.
func TestCompleteSchedules(t *testing.T) {
	c := readSteps(t, "one")
	a := workload.Arrival{Application: "LM (batch size 10)", Spec: job.Spec{ID: "j", GPUs: 2, Schedule: job.BatchSchedule{Mode: job.Given, Regimes: []job.Regime{{BatchSize: 20, Epochs: 3}}}}}
	if err := c.Complete(&a); err != nil {
		t.Fatal(err)
	}
	if s := &a.Spec; s.BatchSize != 20 || s.Batch.Init != 20 || s.Batch.Max != 40 || s.Target != 3*59_675 {
		t.Errorf("batch size %d of %d to %d, target %g; want 20 of 20 to 40, %d", s.BatchSize, s.Batch.Init, s.Batch.Max, s.Target, 3*59_675)
	}
	a.Spec.Schedule.Regimes[0].BatchSize = 30
	if err := c.Complete(&a); err == nil || !strings.Contains(err.Error(), "no throughput on 2 v100") {
		t.Errorf("got error %v, want one of the throughput that is missing", err)
	}
}

// Samples of the dataset that do not fill a batch make no epoch longer: what Complete
// made of given regimes is still what they cover.
func TestGivenRegimesCoverSamples(t *testing.T) {
	catalog := Default()
	for name, app := range catalog {
		if app.Epoch == 0 {
			continue
		}
		regimes := []job.Regime{{BatchSize: app.Batch.Init, Epochs: 20_000}}
		a := workload.Arrival{Application: name, Spec: job.Spec{ID: "j", GPUs: 1, Schedule: job.BatchSchedule{Mode: job.Given, Regimes: regimes}}}
		if err := catalog.Complete(&a); err != nil {
			t.Fatal(err)
		}
		if got, err := app.Regimes(&a.Spec); err != nil || !slices.Equal(got, regimes) {
			t.Errorf("%s: %v, %v, want %v again", name, got, err, regimes)
		}
	}
}

// What jobs ask for at the end of a round, beside what their profile says.
func TestRequested(t *testing.T) {
	catalog := sharedSteps(t, "shockwave/throughputs_isolated.csv", "tacc")
	for _, tc := range []struct {
		name, app    string
		mode         job.ScheduleMode
		local, epoch int
		want         int
	}{
		{"static", "LM (batch size 10)", job.Static, 10, 50, 10},
		{"before the noise grows", "LM (batch size 10)", job.GNS, 10, 9, 10},
		{"one epoch ahead", "LM (batch size 10)", job.GNS, 10, 10, 20},
		{"at most doubled", "LM (batch size 10)", job.GNS, 10, 100, 20},
		{"never more than the noise allows", "LM (batch size 10)", job.GNS, 80, 100, 80},
		{"critical at first", "LM (batch size 10)", job.Accordion, 10, 9, 10},
		{"no calm 30 percent", "LM (batch size 10)", job.Accordion, 10, 10, 80},
		{"back in critical epochs", "ResNet-50 (batch size 32)", job.Accordion, 128, 60, 32},
		{"also late ones", "ResNet-50 (batch size 32)", job.Accordion, 128, 601, 32},
		{"no later warm-up", "Recommendation (batch size 512)", job.Accordion, 8192, 65, 8192},
		{"a batch as large as can be", "LM (batch size 80)", job.Accordion, 80, 50, 80},
	} {
		app := catalog[tc.app]
		s := lm(1, app.Batch.Init, 800*float64(app.Epoch), job.BatchSchedule{Mode: tc.mode})
		regimes, err := app.Regimes(&s)
		if err != nil {
			t.Fatal(err)
		}
		if got := app.Requested(&s, regimes, tc.local, tc.epoch); got != tc.want {
			t.Errorf("%s: %d in epoch %d, want %d", tc.name, got, tc.epoch, tc.want)
		}
	}
}
