package run

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
)

// TestLean_rounds plays generated traces twice, with all jobs in every snapshot and without the continuing ones:
// journals and results are equal, byte for byte. Policies with Traits.Keeps play all traces, four others play one,
// and -short plays only fifo on one. RAPID_SEED sets the seed of the traces.
func TestLean_rounds(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("RAPID_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64N(1 << 32)
	}
	t.Logf("RAPID_SEED=%d repeats it", seed)
	others := draws.Some(t, 4, registry.Names())
	for _, entry := range registry.Policies() {
		kinds := []string{"fixed-duration", "philly-like", "newtrace-like"}
		if !entry.Traits().Keeps {
			if kinds = kinds[1:2]; !draws.Long() && !slices.Contains(others, entry.Name) {
				continue
			}
		}
		if testing.Short() {
			if kinds = kinds[:1]; entry.Name != "fifo" {
				continue
			}
		}
		for _, kind := range kinds {
			t.Run(entry.Name+", "+kind, func(t *testing.T) {
				whole, lean := crowded(t, entry.Name, kind, seed, true), crowded(t, entry.Name, kind, seed, false)
				if err := differ(whole, lean); err != nil {
					t.Errorf("all jobs shown, and then only some: %v", err)
				}
			})
		}
	}
}

// crowded is what a run on few GPUs writes: its journal and its results.
func crowded(t *testing.T, policy, kind string, seed uint64, whole bool) string {
	t.Helper()
	c := config.Default()
	c.Cluster, c.Horizon, c.OnBadRow, c.Placer = "t4:8x4,a100:3x8", 60*time.Hour, "skip", "submesh"
	c.Generate.Kind, c.Generate.Jobs, c.Sim.Seed = kind, 60, seed
	c.Sim.Faults = sim.Faults{NodeMTBF: 300 * time.Hour, Repair: time.Hour}
	text, _ := written(t, c, policy, Watch{Whole: whole})
	return text
}

// written plays a run, and returns its journal and its results, and its inputs as they are then.
func written(t *testing.T, c *config.Config, policy string, watch Watch) (string, *Inputs) {
	t.Helper()
	in, err := Load(c, Files{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, journal.Header{Policy: policy, Start: sim.Epoch, Round: c.Scheduler.Round, Cluster: in.Cluster})
	run, err := SimulateWatched(t.Context(), c, in, policy, watch, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&out).Encode(run.Result); err != nil {
		t.Fatal(err)
	}
	return out.String(), in
}
