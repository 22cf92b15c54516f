package history

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// files are those of the machine.
var files = run.Files{Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }, Dir: os.DirFS}

// asked answers for a history in testdata/slurm, on the nodes and with the configuration of Slurm in two files of that folder.
func asked(t *testing.T, name, nodes, configured string, change func(*Question)) *Answer {
	t.Helper()
	dir := filepath.Join("testdata", "slurm")
	q := &Question{Config: config.Default(), Seeds: 2, Own: slurmConfiguration(t, filepath.Join(dir, configured))}
	setNodes(t, q.Config, filepath.Join(dir, nodes))
	if change != nil {
		change(q)
	}
	return answered(t, q, filepath.Join(dir, name))
}

func opened(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func slurmConfiguration(t *testing.T, name string) OwnPolicy {
	t.Helper()
	s, err := slurm.ReadSettings(opened(t, name), name)
	if err != nil {
		t.Fatal(err)
	}
	return WithSlurm(s)
}

func setNodes(t *testing.T, c *config.Config, name string) {
	t.Helper()
	nodes, err := slurm.Nodes(opened(t, name), name, io.Discard)
	if err == nil {
		err = c.Set("cluster", nodes, name)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func answered(t *testing.T, q *Question, name string) *Answer {
	t.Helper()
	return answeredUnder(t, q, name, "")
}

// answeredUnder is answered with a policy in place of the cluster's own scheduler.
func answeredUnder(t *testing.T, q *Question, name, baseline string) *Answer {
	t.Helper()
	q.Config.Sim.FreeStart = true
	past, err := Read(opened(t, name), q.Config, Options{Name: name, Workers: true, Baseline: baseline}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := past.Prepare(q.Config, name, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := q.Own.Learn(past, q.Config); err != nil {
		t.Fatal(err)
	}
	if q.History, q.Files = past, past.Files(files); q.Policies == nil {
		q.Policies = Defaults
	}
	if q.Scenarios == nil {
		q.Scenarios = []Scenario{Rigid}
	}
	a, err := q.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestWhatIf_real_slurm replays histories of a real Slurm 22.05 with six nodes of eight GPUs, loaded for 15 to 24
// minutes with short jobs, with weights for age, size and quality of service (a) or only age (b). Slurm's delay of
// a second or two between jobs decides which job starts, so all replays are stamped. The test fails if a policy's
// replays get worse on average. docs/experiments/whatif.md has the figures.
func TestWhatIf_real_slurm(t *testing.T) {
	for name, most := range map[string]float64{"a1": 0.30, "a2": 0.15, "b1": 0.12, "b2": 0.15, "a3": 0.05, "a4": 0.05, "b4": 0.05} {
		t.Run(name, func(t *testing.T) {
			a := asked(t, name+".txt.gz", "nodes.txt", "config-"+name[:1]+".txt", nil)
			t.Logf("%s; on average %+.1f %%", a.Trust.Errors(), 100*a.average)
			if a.average == 0 || math.Abs(a.average) > most {
				t.Errorf("mean wait is %.1f %% off on average, want at most %.0f", 100*a.average, 100*most)
			}
			stampedEverywhere(t, a)
		})
	}
}

// TestWhatIf_quiet_slurm replays two histories that TestSlurm_record made with a real Slurm of 24 nodes with eight
// GPUs, on an otherwise idle machine. The first, an hour with 697 jobs of 20 s to 20 min, is replayed within the
// limit. In the second, half of the nodes were reserved for a quarter of an hour, which accounting omits; its
// replay is stamped.
func TestWhatIf_quiet_slurm(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a history twice")
	}
	a := asked(t, "c1.txt.gz", "nodes-c.txt", "config-c.txt", nil)
	if !a.Trust.Trusted || math.Abs(a.Trust.Wait) > 0.05 {
		t.Errorf("an hour on a quiet machine: trusted %v, mean wait %+.1f %% off, want at most 5: %s", a.Trust.Trusted, 100*a.Trust.Wait, a.Trust.Errors())
	}
	t.Log(a.Trust.Errors())
	stampedEverywhere(t, asked(t, "c-reserved.txt.gz", "nodes-c.txt", "config-c.txt", nil))
}

// stampedEverywhere fails the test unless every output of an answer that is not to be trusted says so, of all that is simulated.
func stampedEverywhere(t *testing.T, a *Answer) {
	t.Helper()
	if a.Trust.Trusted {
		t.Errorf("trusted: %s", a.Trust.Errors())
	}
	for i := range a.Rows {
		if r := &a.Rows[i]; (r.Name == asItWas) == strings.HasSuffix(r.Name, " (not to be trusted)") || r.Trusted != (r.Name == asItWas) {
			t.Errorf("row %q, trusted %t", r.Name, r.Trusted)
		}
	}
	var page, table bytes.Buffer
	if err := a.Page(&page); err != nil {
		t.Fatal(err)
	}
	if err := a.Table(&table); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sentence": a.Sentence, "page": page.String(), "table": table.String()} {
		if !strings.Contains(text, "NOT TO BE TRUSTED") {
			t.Errorf("%s is not stamped:\n%s", name, text)
		}
	}
}
