package workload

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/job"
)

// published is a job of Shockwave's profiles.
type published struct {
	Epochs int                `json:"num_epochs"`
	Epoch  int                `json:"samples_per_epoch"`
	RLE    [][2]int           `json:"bs_rle"`
	Times  map[string]float64 `json:"epoch_s_by_bs"`
	Total  float64            `json:"total_s"`
}

func sharedSteps(t *testing.T, rel, table string) Catalog {
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

func comparePublished(t *testing.T, app *Application, s *job.Spec, want *published) {
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
