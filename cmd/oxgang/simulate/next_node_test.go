package simulate

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

// configured returns a configuration of some keys and values.
func configured(t *testing.T, settings ...string) *config.Config {
	t.Helper()
	c := config.Default()
	for i := 0; i < len(settings); i += 2 {
		if err := c.Set(settings[i], settings[i+1], "test"); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// simulated returns the mean JCT of a configuration, and its journal.
func simulated(t *testing.T, c *config.Config) (float64, []byte) {
	t.Helper()
	in, err := run.Load(c, cli.OsFiles())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w := journal.NewWriter(&text, run.Header(c, in, c.Policies[0], "test"))
	run, err := run.Simulate(t.Context(), c, in, c.Policies[0], w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return run.Result.Summary.MeanJCT, text.Bytes()
}

// written returns a call on a journal.
func written(t *testing.T, text []byte) *nextNode {
	t.Helper()
	n := &nextNode{file: filepath.Join(t.TempDir(), "run.oxj"), orders: 1}
	if err := os.WriteFile(n.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// learnedOnly returns what is found of a journal without the inputs of its run.
func learnedOnly(t *testing.T, text []byte) *nextNodes {
	t.Helper()
	j, err := journal.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	h := j.Header()
	found, err := written(t, text).learned(t.Context(), &h, errors.New("a test does without"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// studied returns what is found of a journal.
func studied(t *testing.T, text []byte) *nextNodes {
	t.Helper()
	found, err := written(t, text).study(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestNextNodes_by_hand: on eight pairs of trace and cluster, the saving of one more node equals the saving in a
// simulation of the larger cluster, and types have the same order. The log states how far the prices alone are
// off. Where an estimate from the run's own jobs is marked as trusted, it names the same best type.
func TestNextNodes_by_hand(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates eight pairs: half a minute")
	}
	pairs, right, untrusted := 0, 0, 0
	for _, kind := range []string{"philly-like", "newtrace-like"} {
		for base, grown := range map[string]map[cluster.GPUType]string{
			"t4:6x4,a100:2x8,rtx:3x8":   {"t4": "t4:7x4,a100:2x8,rtx:3x8", "a100": "t4:6x4,a100:3x8,rtx:3x8", "rtx": "t4:6x4,a100:2x8,rtx:4x8"},
			"t4:4x4,a100:2x8":           {"t4": "t4:5x4,a100:2x8", "a100": "t4:4x4,a100:3x8"},
			"rtx:3x8,a100:2x8,quad:1x4": {"rtx": "rtx:4x8,a100:2x8,quad:1x4", "a100": "rtx:3x8,a100:3x8,quad:1x4", "quad": "rtx:3x8,a100:2x8,quad:2x4"},
			"t4:8x4,rtx:1x8":            {"t4": "t4:9x4,rtx:1x8", "rtx": "t4:8x4,rtx:2x8"},
		} {
			set := []string{"policy", "oxgang", "generate.kind", kind, "generate.jobs", "120"}
			without, text := simulated(t, configured(t, append(set, "cluster", base)...))
			found := studied(t, text)
			if without != found.MeanJCT || without != found.Recorded {
				t.Errorf("%s on %s: mean JCT %v recorded, %v without another node, want %v", kind, base, found.Recorded, found.MeanJCT, without)
			}
			learned := learnedOnly(t, text)
			switch {
			case !learned.Trust.Trusted:
				untrusted++
			case learned.Nodes[0].Type != found.Nodes[0].Type:
				t.Errorf("%s on %s: from what it learned, which it says is to be trusted, %s saves the most, want %s", kind, base, learned.Nodes[0].Type, found.Nodes[0].Type)
			}
			t.Logf("%s on %s: from what it learned, the first saves %.1f s", kind, base, learned.Nodes[0].Saved.JCT)
			for i, n := range found.Nodes {
				with, _ := simulated(t, configured(t, append(set, "cluster", grown[n.Type])...))
				want := without - with
				if math.Abs(n.Saved.JCT-want) > 1e-9*without {
					t.Errorf("%s on %s: one more %s saves %v s, by hand %v s", kind, base, n.Type, n.Saved.JCT, want)
				}
				if i > 0 {
					if n.Saved.JCT > found.Nodes[i-1].Saved.JCT {
						t.Errorf("%s on %s: %s comes after %s and saves more", kind, base, n.Type, found.Nodes[i-1].Type)
					}
					if pairs++; *n.Estimated <= *found.Nodes[i-1].Estimated {
						right++
					}
				}
				t.Logf("%s on %s: one more %s saves %.1f s, by prices %.1f s", kind, base, n.Type, n.Saved.JCT, *n.Estimated)
			}
		}
	}
	if untrusted > 2 {
		t.Errorf("%d of 8 runs are not to be trusted from what they learned, want at most 2", untrusted)
	}
	t.Logf("prices have the order of %d of %d pairs of types", right, pairs)
}

// Runs at the defaults of every setting are simulated again as they were: oxgang asks which were
// chosen.
func TestStudy_of_the_defaults(t *testing.T) {
	c := configured(t, "policy", "oxgang")
	want, text := simulated(t, c)
	if found := studied(t, text); found.MeanJCT != want || !found.Trust.Trusted {
		t.Errorf("mean JCT %v as simulated again, want %v", found.MeanJCT, want)
	}
}
