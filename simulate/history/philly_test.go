package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

// TestWhatIf_philly_log writes a simulated week on 12 nodes in the format of Philly's log. The replay is trusted
// if the jobs were served in the order of the policy that stands for Philly's, and stamped if not. The real log is
// not available.
func TestWhatIf_philly_log(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a long log")
	}
	asked := func(t *testing.T, setting, policy string) *Answer {
		a := answered(t, &Question{Config: config.Default(), Seeds: 1, Policies: []string{"fifo"}}, phillyLogOf(t, policy, setting))
		if a.Own != "fifo with unrestricted backfilling" || a.Cluster != "gpu:12x8" {
			t.Errorf("replayed as %s on %s", a.Own, a.Cluster)
		}
		t.Logf("%s: %s", policy, a.Trust.Errors())
		return a
	}
	t.Run("as it is replayed", func(t *testing.T) {
		a := asked(t, "fifo.backfill=true", "fifo")
		if !a.Trust.Trusted || a.Rows[0].MeanWait < 600 {
			t.Errorf("trusted %t, mean wait %v s: %s", a.Trust.Trusted, a.Rows[0].MeanWait, a.Trust.Errors())
		}
		if strict := a.Rows[2]; strict.MeanWait < 2*a.Rows[0].MeanWait {
			t.Errorf("strict fifo: mean wait %v s, want far more than %v s where who fits passes", strict.MeanWait, a.Rows[0].MeanWait)
		}
	})
	t.Run("in another order", func(t *testing.T) {
		a := asked(t, "", "srtf")
		stampedEverywhere(t, a)
		for _, want := range []string{"the log has no quotas of virtual clusters", "fair shares, preemption and waiting for nearby GPUs"} {
			if !strings.Contains(strings.Join(a.Trust.Causes, "\n"), want) {
				t.Errorf("causes %q, want %q among them", a.Trust.Causes, want)
			}
		}
	})
}

// phillyLogOf runs a quarter of a week, and returns a file with the log of it.
func phillyLogOf(t *testing.T, policy, setting string) string {
	t.Helper()
	c := config.Default()
	for key, value := range map[string]string{"trace": testdata.Path(t, "traces/philly/week09.csv.gz"), "cluster": "gpu:12x8", "policy": policy, "jobs.free-start": "true", "jobs.restart": "0s", "on-bad-row": "skip"} {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if setting != "" {
		c.Settings = append(byNode(policy), setting)
	}
	pace(c, false, &OwnPolicy{})
	in, err := run.Load(c, files)
	if err != nil {
		t.Fatal(err)
	}
	in.Arrivals = limited(append(halfOf(in.Arrivals, 0, 0), halfOf(in.Arrivals, 0, 1)...))
	result, err := run.SimulateVariant(t.Context(), c, in, policy, in.Cluster, 0)
	if err != nil {
		t.Fatal(err)
	}
	var log []any
	clock := func(s float64) string {
		return time.Unix(1506236400, 0).UTC().Add(time.Duration(s * float64(time.Second)).Round(time.Second)).Format(time.DateTime)
	}
	for i := range result.Result.Jobs {
		r := &result.Result.Jobs[i]
		log = append(log, map[string]any{
			"status": "Pass", "vc": "v", "jobid": r.ID, "user": "u", "submitted_time": clock(r.Submitted),
			"attempts": []any{map[string]any{"start_time": clock(r.FirstStarted), "end_time": clock(r.Finished), "detail": machinesOf(i, in.Arrivals[i].Spec.GPUs)}},
		})
		if in.Arrivals[i].Spec.ID != r.ID {
			t.Fatalf("job %d is %s, want %s", i, r.ID, in.Arrivals[i].Spec.ID)
		}
	}
	text, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cluster_job_log")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// machinesOf returns some machines of eight GPUs that a job may have been on.
func machinesOf(i, gpus int) (all []any) {
	for n := 0; n < gpus; n += 8 {
		var names []string
		for k := range min(8, gpus-n) {
			names = append(names, fmt.Sprintf("gpu%d", (i+k)%8))
		}
		all = append(all, map[string]any{"ip": fmt.Sprintf("m%d", (i+n/8)%12), "gpus": names})
	}
	return all
}
