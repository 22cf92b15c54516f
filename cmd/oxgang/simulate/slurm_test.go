package simulate

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/history"
)

// errorsOf returns how wrong a simulation of a recording of a real Slurm is under the baseline.
func errorsOf(t *testing.T, recording string, args ...string) metrics.Trust {
	t.Helper()
	cmd := Command()
	var out, told bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&told)
	cmd.SetArgs(append([]string{"--trace", "testdata/" + recording, "--slurm-nodes", "testdata/slurm-nodes.txt", "--policy", "easy", "--round", "1s", "--jobs-restart", "1s", "--report=", "--quiet", "-o", "json"}, args...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	var rows []struct {
		Policy      string  `json:"policy"`
		JCT         float64 `json:"own_policy_jct_error"`
		Wait        float64 `json:"own_policy_wait_error"`
		Median      float64 `json:"own_policy_median_wait_error"`
		P90         float64 `json:"own_policy_p90_wait_error"`
		Utilisation float64 `json:"own_policy_utilisation_error"`
		Trusted     bool    `json:"trusted"`
	}
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil || len(rows) < 2 || rows[0].Policy != history.ObservedName {
		t.Fatalf("%v: %s", err, out.String())
	}
	r := rows[1]
	return metrics.Trust{JCT: r.JCT, Wait: r.Wait, Utilisation: r.Utilisation, Trusted: r.Trusted, Waits: &metrics.WaitErrors{Median: r.Median, P90: r.P90}}
}

// TestReplay_of_a_real_Slurm replays a Slurm 22.05.8 on four nodes of 8 GPUs, with multifactor priority (size,
// age, QOS) and sched/backfill every 2 s. The bounds are measured values, rounded up. The replay is more than 5 %
// off, so simulations are stamped. Strict FIFO is further off in each.
func TestReplay_of_a_real_Slurm(t *testing.T) {
	for recording, most := range map[string]struct{ wait, median, p90, jct, utilisation float64 }{
		"slurm.txt":   {0.08, 0.63, 0.06, 0.06, 0.03}, // 90 jobs, that waited 2 minutes on average; the 45th wait is off by 63 %, the 46th by 17 %
		"slurm-2.txt": {0.20, 0.36, 0.05, 0.14, 0.07}, // 80 jobs, 3 minutes
		"slurm-3.txt": {0.04, 0.35, 0.07, 0.03, 0.04}, // 44 jobs, 2 minutes; reservations to the second (bf_resolution=1)
	} {
		got := errorsOf(t, recording)
		for _, e := range []struct {
			name      string
			off, most float64
		}{
			{"mean wait", got.Wait, most.wait},
			{"median wait", got.Waits.Median, most.median},
			{"P90 wait", got.Waits.P90, most.p90},
			{"mean JCT", got.JCT, most.jct},
			{"utilisation", got.Utilisation, most.utilisation},
		} {
			if math.Abs(e.off) > e.most {
				t.Errorf("%s: %s is off by %.1f %%, was at most %.0f %%", recording, e.name, 100*e.off, 100*e.most)
			}
		}
		if strict := errorsOf(t, recording, "--baseline", "fifo"); strict.Wait < 0.5 || got.Trusted || strict.Trusted {
			t.Errorf("%s: strict FIFO is off by %.1f %%, want more than 50 %%; stamped: %v, %v", recording, 100*strict.Wait, !got.Trusted, !strict.Trusted)
		}
	}
	if all := errorsOf(t, "slurm.txt", "--set", "easy.reservations=100"); math.Abs(all.Wait) > 0.04 {
		t.Errorf("with 100 reservations the mean wait is off by %.1f %%, was 3.9", 100*all.Wait)
	}
	if all := errorsOf(t, "slurm-2.txt", "--set", "easy.reservations=100"); all.Trusted {
		t.Error("with 100 reservations the mean wait of the second was off by 57 %, and it is trusted")
	}
}

// TestAskSlurm_elsewhere: where there is no sacct, it is said what to do.
func TestAskSlurm_elsewhere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := askSlurm(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "sacct: not in PATH") {
		t.Errorf("error %v, want one that says that there is no sacct", err)
	}
	if _, err := askNodes(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "scontrol: not in PATH") {
		t.Errorf("error %v, want one that says that there is no scontrol", err)
	}
}
