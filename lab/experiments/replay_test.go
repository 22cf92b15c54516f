package experiments

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/run"
)

// TestSynergyReplay compares every job of the public Synergy simulator's runs with
// ours: it ends in the same round.
func TestSynergyReplay(t *testing.T) {
	for name, trace := range map[string]string{"synergy/replay-static": "deploy_static_100", "synergy/replay-dynamic": "deploy_dynamic_srtf"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range e.Runs {
			t.Run(name+"/"+e.Runs[i].Name, func(t *testing.T) {
				run := trace + "_" + strings.ReplaceAll(e.Runs[i].Name, " ", "_")
				sameEnds(t, replayed(t, e, &e.Runs[i]), jctsOf(t, testdata.Path(t, "synergy/reference/"+run+".csv")))
			})
		}
	}
}

func replayed(t *testing.T, e *Experiment, p *Plan) []metrics.JobResult {
	t.Helper()
	configs, err := e.configs(p, testdata.Path(t, "."))
	if err != nil {
		t.Fatal(err)
	}
	in, err := run.Load(configs[0], osFiles())
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Simulate(context.Background(), configs[0], in, p.Policy)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Refused) > 0 {
		t.Fatal(r.Refused[0])
	}
	return r.Result.Jobs
}

// sameEnds compares JCTs with those in hours that the reference has to six digits.
func sameEnds(t *testing.T, got []metrics.JobResult, want map[string]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d jobs, want %d", len(got), len(want))
	}
	for _, j := range got {
		if w := want[string(j.ID)]; math.Abs(j.JCT/3600-w) > 2e-6 {
			t.Errorf("job %s: JCT %.6f h, want %.6f", j.ID, j.JCT/3600, w)
		}
	}
}

// jctsOf returns the JCTs of a run of the public simulator, in hours.
func jctsOf(t *testing.T, path string) map[string]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	jcts := map[string]float64{}
	for _, row := range rows[1:] {
		if jcts[row[0]], err = strconv.ParseFloat(row[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return jcts
}
