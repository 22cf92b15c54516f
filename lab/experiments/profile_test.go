package experiments_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/lab/experiments"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

func profiles(t *testing.T, cluster, like string, names ...string) ([]experiments.Matrix, error) {
	t.Helper()
	c := config.Default()
	c.Cluster = cluster
	if like != "" {
		c.Like = []string{like}
	}
	return experiments.Profile(t.Context(), c, run.Files{}, names)
}

// Synergy §3.1: "within 3%", "in under 8 minutes (using just 8 CPU profile points
// instead of 24)", "10× reduction in profiling time" by memory alone; Table 4 has
// ten models.
func TestProfile_all_models(t *testing.T) {
	all, err := profiles(t, "synergy128", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 10 {
		t.Errorf("%d models, want 10", len(all))
	}
	for _, m := range all {
		if m.Worst > 0.03 || m.Counts != 24 || len(m.Measured) > 8 || m.Took > 8*time.Minute {
			t.Errorf("%s: %.1f %% off with %d of %d points in %v", m.Application, 100*m.Worst, len(m.Measured), m.Counts, m.Took)
		}
		if len(m.CPUs) != 24 || len(m.Memory) != 8 || m.Memory[7] != 500e9 || m.AtShare != m.Believed[2][0] {
			t.Errorf("%s: axes %v and %v, want 24 CPU counts and eighths of 500 GB", m.Application, m.CPUs, m.Memory)
		}
	}
}

// Synergy §6: a matrix for each GPU type; of many CPU counts, some are shown.
func TestProfile_types(t *testing.T) {
	all, err := profiles(t, "v100:1x8/24c/500g,h100:1x4/96c/2000g,t4:1x8", "h100=v100x3", "m5")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].GPUType != "v100" || all[1].GPUType != "h100" {
		t.Fatalf("%d matrices, want those of v100 and h100, whose CPUs are known", len(all))
	}
	h := all[1]
	if h.Counts != 96 || len(h.CPUs) > 24+len(h.Measured) || h.Share.CPUs != 24 || !slices.IsSorted(h.CPUs) {
		t.Errorf("%d counts, %d rows, share of %g CPUs; want 96, 24 and those measured, 24", h.Counts, len(h.CPUs), h.Share.CPUs)
	}
	if got := h.Believed[len(h.CPUs)-1][7] / all[0].Believed[23][7]; got < 2.99 || got > 3.01 {
		t.Errorf("with all CPUs an h100 is %g times as fast, want 3", got)
	}
}

func TestProfile_errors(t *testing.T) {
	for _, c := range []struct{ name, cluster, app, want string }{
		{"unknown application", "synergy128", "m6", `application "m6" is not sensitive to CPUs and memory, want one of: alexnet, deepspeech, `},
		{"insensitive application", "synergy128", "bert", `application "bert" is not sensitive to CPUs and memory, want one of`},
		{"CPUs are not known", "hetero64", "m5", `the CPUs and memory of cluster "hetero64" are not known, want for example v100:16x8/24c/500g`},
		{"no such cluster", "x", "m5", `cluster "x", want a preset`},
		{"runs nowhere", "a100:1x8/96c/500g", "m5", `m5: runs on no GPU type of the cluster with known CPUs`},
		{"too little memory", "v100:1x8/24c/40g", "m5", `m5: does not run on v100, not even with all the memory of a node`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := profiles(t, c.cluster, "", c.app); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s...", err, c.want)
			}
		})
	}
}
