package simulate

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/experiments"
	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/metrics/resample"
	"github.com/oxgang/oxgang/policy/builtin"
	"github.com/oxgang/oxgang/workload"
)

// TestWhatIf_ranges_hold: of ten histories, of which every fourth job is taken, the first half says in which range the change from
// Slurm's policy to another is, and the second half says what it is. It prints which hold; docs/experiments/whatif.md has the figures.
func TestWhatIf_ranges_hold(t *testing.T) {
	if !draws.Long() {
		t.Skip("simulates ten weeks or two, two policies each: minutes")
	}
	histories := []struct {
		trace string
		nodes int // of eight GPUs
	}{
		{"lyra_synth/train_eighth_seed11.csv.gz", 13},
		{"lyra_synth/train_eighth_seed12.csv.gz", 13},
		{"lyra_synth/train_eighth_seed14.csv.gz", 13},
		{"lyra_synth/train_eighth_seed15.csv.gz", 13},
		{"lyra_synth/train_eighth_seed17.csv.gz", 13},
		{"philly/week00.csv.gz", 20},
		{"philly/week06.csv.gz", 14},
		{"philly/week07.csv.gz", 11},
		{"philly/week09.csv.gz", 12},
		{"philly/week10.csv.gz", 12},
	}
	held, all := 0, 0
	for _, h := range histories {
		path := testdata.Path(t, "traces/"+h.trace)
		for _, name := range []string{"srtf"} {
			first, second := half(t, path, h.nodes, name, 0), half(t, path, h.nodes, name, 1)
			said, then := resample.Between(first, 1), resample.Between(second, 1)
			holds := then.Ratio >= said.Low && then.Ratio <= said.High
			if all++; holds {
				held++
			}
			fmt.Fprintf(os.Stderr, "%s %s: said %.3f (%.3f to %.3f), then %.3f: %t\n", h.trace, name, said.Ratio, said.Low, said.High, then.Ratio, holds)
		}
	}
	fmt.Fprintf(os.Stderr, "%d of %d ranges hold\n", held, all)
}

// half returns the waits of one half of a trace under Slurm's policy and another.
func half(t *testing.T, trace string, nodes int, policy string, which int) []resample.Pair {
	t.Helper()
	waits := make(map[job.ID]*resample.Pair)
	for _, name := range []string{"multifactor", policy} {
		c := config.Default()
		for key, value := range map[string]string{"trace": trace, "cluster": fmt.Sprintf("v100:%dx8", nodes), "policy": name, "jobs.free-start": "true", "jobs.restart": "0s", "on-bad-row": "skip"} {
			if err := c.Set(key, value, "test"); err != nil {
				t.Fatal(err)
			}
		}
		e, err := builtin.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		pace(c, e.Traits().Sizes, &ownSettings{})
		in, err := experiments.Load(c, cli.FilesUntil(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		in.Arrivals = limited(halfOf(in.Arrivals, which))
		run, err := experiments.SimulateVariant(t.Context(), c, in, name, in.Cluster, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range run.Result.Jobs {
			r := &run.Result.Jobs[i]
			if waits[r.ID] == nil {
				waits[r.ID] = &resample.Pair{At: r.Submitted, Was: r.FirstStarted - r.Submitted}
			}
			waits[r.ID].Would = r.FirstStarted - r.Submitted
		}
	}
	var pairs []resample.Pair
	for _, p := range waits {
		pairs = append(pairs, *p)
	}
	slices.SortFunc(pairs, func(a, b resample.Pair) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Was, b.Was), cmp.Compare(a.Would, b.Would))
	})
	return pairs
}

// which4 is which of four jobs is taken: the method of ranges was chosen with 0.
const which4 = 1

// halfOf returns the arrivals of the first or the second half of the time.
func halfOf(arrivals []workload.Arrival, which int) []workload.Arrival {
	middle, n := arrivals[len(arrivals)-1].At/2, 0
	return slices.DeleteFunc(slices.Clone(arrivals), func(a workload.Arrival) bool {
		n++
		return (a.At >= middle) != (which == 1) || a.Spec.Queue == workload.Warm || n%4 != which4
	})
}

// limited gives jobs time limits, longer than they run, and makes them rigid.
func limited(arrivals []workload.Arrival) []workload.Arrival {
	for i := range arrivals {
		a := &arrivals[i]
		longer := []float64{1.1, 1.5, 2, 4}[rng.Stream(3, "limit/"+string(a.Spec.ID)).IntN(4)]
		a.Spec.Target = (a.Duration + time.Minute).Seconds() * longer
		a.Spec.Adaptivity, a.Spec.NonPreemptive, a.Spec.MinGPUs, a.Spec.MaxGPUs = job.Rigid, true, 0, 0
	}
	return arrivals
}
