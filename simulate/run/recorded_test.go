package run

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
)

// record returns a run and its journal.
func record(t *testing.T, c *config.Config) (*Run, []byte) {
	t.Helper()
	in, err := Load(c, osFiles())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w := journal.NewWriter(&text, Header(c, in, c.Policies[0], "test"))
	run, err := Simulate(t.Context(), c, in, c.Policies[0], w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return run, text.Bytes()
}

func reader(t *testing.T, text []byte) *journal.Reader {
	t.Helper()
	r, err := journal.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A recording says of a run all that was measured.
func TestRecorded_is_as_simulated(t *testing.T) {
	shockwave := testdata.Path(t, "shockwave")
	for name, settings := range map[string]map[string]string{
		"sia":     {"policy": "sia", "generate.jobs": "40", "cluster": "t4:2x4,a100:1x8"},
		"faults":  {"policy": "fifo", "generate.jobs": "30", "sim.node-mtbf": "20h", "sim.gpu-mtbf": "200h", "sim.repair": "30m", "sim.noise": "0.1"},
		"horizon": {"policy": "srtf", "generate.jobs": "30", "horizon": "3h"},
		"early":   {"policy": "fifo", "generate.jobs": "12", "horizon": "2h"},
		"window":  {"policy": "fifo", "generate.jobs": "30", "window": "5-20"},
		"shockwave": {
			"policy": "gavel", "cluster": "v100:32x1", "profiles": shockwave, "profiles.table": "tacc", "estimate.mode": "oracle", "round": "120s",
			"trace": "shockwave:" + shockwave + "/traces/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.csv",
			"limit": "40", "sim.whole-rounds": "true", "fairness.above": "1.1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			for key, value := range settings {
				if err := c.Set(key, value, "test"); err != nil {
					t.Fatal(err)
				}
			}
			want, text := record(t, c)
			if want.Result.Summary.Rho == nil {
				t.Fatal("no rho to compare")
			}
			h := reader(t, text).Header()
			oc, in, err := Origin(&h, osFiles())
			if err != nil {
				t.Fatal(err)
			}
			got, err := Recorded(reader(t, text), oc, in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Result, got.Result); diff != "" {
				t.Errorf("result (-simulated +recorded):\n%s", diff)
			}
			if got.Unfinished != want.Unfinished || got.Policy != c.Policies[0] {
				t.Errorf("policy %s, unfinished %v; want %s, %v", got.Policy, got.Unfinished, c.Policies[0], want.Unfinished)
			}
		})
	}
}

func TestRecorded_without_what_it_needs(t *testing.T) {
	c := config.Default()
	c.Generate.Jobs, c.Policies = 12, []string{"fifo"}
	want, text := record(t, c)

	t.Run("inputs", func(t *testing.T) {
		got, err := Recorded(reader(t, text), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := got.Result.Summary
		if s.Rho != nil || s.MeanJCT != want.Result.Summary.MeanJCT || s.Jobs != 12 {
			t.Errorf("summary %+v, want that of the run, without rho", s)
		}
	})
	t.Run("its own inputs", func(t *testing.T) {
		other := *c
		other.Sim.Seed++
		in, err := Load(&other, osFiles())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Recorded(reader(t, text), &other, in); err == nil || !strings.Contains(err.Error(), "differs from the trace") {
			t.Errorf("error %v, want one about the trace", err)
		}
	})
	t.Run("its end", func(t *testing.T) {
		got, err := Recorded(reader(t, text[:len(text)/2]), nil, nil)
		if err != nil || !got.Unfinished {
			t.Errorf("%+v, %v; want an unfinished run", got, err)
		}
	})
}

func TestOrigin_of_other_journals(t *testing.T) {
	for name, settings := range map[string][]journal.Setting{
		"unknown key":             {{Name: "p", Value: "-0.5"}},
		"cluster \"\"":            {{Name: "cluster", Value: ""}},
		"standard input":          {{Name: "trace", Value: "-"}},
		"no such file or directo": {{Name: "trace", Value: "/nowhere/at/all"}},
	} {
		if _, _, err := Origin(&journal.Header{Settings: settings}, osFiles()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v, want one about %s", settings, err, name)
		}
	}
}
