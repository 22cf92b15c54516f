package simulate

import (
	"bytes"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/config"
)

// asked answers for a history in testdata/slurm, as oxgang whatif does.
func asked(t *testing.T, name, configured string, change func(*question)) *answer {
	t.Helper()
	dir := filepath.Join("testdata", "slurm")
	q := &question{
		config: config.Default(), stderr: io.Discard, quiet: true, format: "table", seeds: 2,
		nodes: filepath.Join(dir, "nodes.txt"), slurm: filepath.Join(dir, configured),
	}
	if change != nil {
		change(q)
	}
	return answered(t, q, filepath.Join(dir, name))
}

// answered answers a question about a history.
func answered(t *testing.T, q *question, history string) *answer {
	t.Helper()
	if err := q.prepare(t.Context(), []string{history}); err != nil {
		t.Fatal(err)
	}
	if err := q.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, err := q.answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestWhatIf_real_slurm: histories of a real Slurm 22.05 of six nodes with eight GPUs, loaded for 15 to 24 minutes with jobs of
// seconds to minutes, on a busy machine of two processors. Some have weights for age, size and quality of service (a), others for
// age (b). What Slurm takes between jobs, a second or two, is a part of these times, and decides which job starts: no single replay is
// near enough, and all are stamped. docs/experiments/whatif.md has the figures; a policy whose replays get worse on average fails.
func TestWhatIf_real_slurm(t *testing.T) {
	for name, most := range map[string]float64{"a1": 0.30, "a2": 0.15, "b1": 0.12, "b2": 0.15, "a3": 0.05, "a4": 0.05, "b4": 0.05} {
		t.Run(name, func(t *testing.T) {
			a := asked(t, name+".txt.gz", "config-"+name[:1]+".txt", func(q *question) { q.html = "" })
			t.Logf("%s; on average %+.1f %%", a.Trust.Errors(), 100*a.average)
			if a.average == 0 || math.Abs(a.average) > most {
				t.Errorf("mean wait is %.1f %% off on average, want at most %.0f", 100*a.average, 100*most)
			}
			stampedEverywhere(t, a)
		})
	}
}

// TestWhatIf_quiet_slurm: two histories of a real Slurm of 24 nodes with eight GPUs each, on a machine that had little else to do.
// TestSlurm_record made them. The replay of the first is near enough: an hour, 697 jobs of 20 s to 20 min. In the second, half of the nodes
// were reserved for a quarter of an hour. The accounting does not say so, and the replay is stamped.
func TestWhatIf_quiet_slurm(t *testing.T) {
	of24 := func(q *question) { q.html, q.nodes = "", filepath.Join("testdata", "slurm", "nodes-c.txt") }
	a := asked(t, "c1.txt.gz", "config-c.txt", of24)
	if !a.Trust.Trusted || math.Abs(a.Trust.Wait) > 0.05 {
		t.Errorf("an hour on a quiet machine: trusted %v, mean wait %+.1f %% off, want at most 5: %s", a.Trust.Trusted, 100*a.Trust.Wait, a.Trust.Errors())
	}
	t.Log(a.Trust.Errors())
	stampedEverywhere(t, asked(t, "c-reserved.txt.gz", "config-c.txt", of24))
}

// stampedEverywhere fails the test unless every output of an answer that is not to be trusted says so, of all that is simulated.
func stampedEverywhere(t *testing.T, a *answer) {
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
	if err := a.page(&page); err != nil {
		t.Fatal(err)
	}
	if err := a.table(&table); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sentence": a.Sentence, "page": page.String(), "table": table.String()} {
		if !strings.Contains(text, "NOT TO BE TRUSTED") {
			t.Errorf("%s is not stamped:\n%s", name, text)
		}
	}
}
