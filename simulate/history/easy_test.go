package history

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/oxgang/oxgang/simulate/config"
)

// Kind of fault: a policy that starts jobs by the GPUs of a type, not of nodes, replays another cluster than the one
// that was recorded. Histories of an EASY and a FIFO scheduler on nodes (testdata/easy.py), on nodes of 1 and 8 GPUs and at
// three loads, are replayed within 5 %; a mean wait may also be off by the precision of a replay.
func TestWhatIf_of_EASY_and_FIFO_on_nodes(t *testing.T) {
	python, err := exec.LookPath("python3")
	if testing.Short() || err != nil {
		t.Skip("starts python3")
	}
	for _, nodes := range [][2]int{{12, 8}, {96, 1}} {
		for i := range 6 {
			policy, load := []string{"easy", "fifo"}[i%2], []string{"0.7", "0.85", "0.95"}[i/2]
			t.Run(fmt.Sprint(policy, nodes, load), func(t *testing.T) {
				text, err := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "easy.py"), fmt.Sprint(nodes[0]), fmt.Sprint(nodes[1]), load, "800", "1", policy).Output()
				if err != nil {
					t.Fatal(err)
				}
				name := filepath.Join(t.TempDir(), "history.txt")
				if err := os.WriteFile(name, text, 0o600); err != nil {
					t.Fatal(err)
				}
				q := &Question{Config: config.Default(), Seeds: 1, Policies: []string{policy}, Own: OwnPolicy{called: policy}}
				if err := q.Config.Set("cluster", fmt.Sprintf("a100:%dx%d", nodes[0], nodes[1]), "test"); err != nil {
					t.Fatal(err)
				}
				q.Config.Zone = "UTC"
				a := answeredUnder(t, q, name, policy)
				was, now := a.Rows[0].MeanWait, a.replayed.MeanWait
				if off := math.Abs(now - was); off > 0.05*was && off > precision.Seconds() {
					t.Errorf("mean wait %v, want %v", time.Duration(now*1e9), time.Duration(was*1e9))
				}
				t.Logf("mean wait %.0f s, recorded %.0f s", now, was)
				if !a.Trust.Trusted {
					t.Errorf("not trusted: %s", a.Trust.Errors())
				}
			})
		}
	}
}
