package history

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/workload"
)

// The quotas of a history become settings of policy kueue, which stands for the cluster's own.
func TestOwn_kueue(t *testing.T) {
	eight, four := 8, 4
	h := &trace.History{Format: "kubernetes", Quotas: []trace.Quota{
		{Queue: "team-a", Cohort: "all", Flavors: []trace.FlavorQuota{{Flavor: "big", Types: []cluster.GPUType{"a100", "h100"}, Nominal: 24, Borrow: &eight}}},
		{Queue: "team-b", Cohort: "all", Strict: true, Flavors: []trace.FlavorQuota{{Flavor: "big", Nominal: 16, Lend: &four}}},
	}}
	var o OwnPolicy
	if err := o.quotas(h); err != nil {
		t.Fatal(err)
	}
	if want := "kueue.queues=team-a@all big=a100|h100:24+8; team-b@all! big=*:16-4"; len(o.settings) != 1 || o.settings[0] != want {
		t.Errorf("settings %q, want %q", o.settings, want)
	}
}

// TestWhatIf_kueue replays histories of a real Kueue 0.19 and kube-scheduler 1.36 on 16 fake nodes, with 159 and
// 104 jobs in a quarter of an hour and three queues, two of which borrow. TestRecordHistory of live/kube/rig/eco
// made them. Chance picks nodes and seconds, so only the mean of replays must be near. The first history was known
// when the policy was written.
func TestWhatIf_kueue(t *testing.T) {
	for _, name := range []string{"k1.json.gz", "k2.json.gz"} {
		a := answered(t, &Question{Config: config.Default(), Seeds: 2}, filepath.Join("testdata", "kueue", name))
		if a.Own != "kueue" || math.Abs(a.average) > 0.05 {
			t.Errorf("%s: own policy %s: mean wait %+.1f %% off on average, want kueue, and at most 5", name, a.Own, 100*a.average)
		}
		t.Logf("%s: %s; mean wait %+.1f %% off on average", name, a.Trust.Errors(), 100*a.average)
		stampedEverywhere(t, a)
	}
}

// Alternatives are asked with the priorities that users gave Kueue's Workloads, and not with those that Slurm computed.
func TestWhatIf_priorities(t *testing.T) {
	for _, test := range []struct {
		of, file string
		want     bool
	}{{"Kueue", filepath.Join("testdata", "kueue", "k2.json.gz"), true}, {"Slurm", filepath.Join("testdata", "slurm", "b1.txt.gz"), false}} {
		q := &Question{Config: config.Default(), Seeds: 1}
		if test.of == "Slurm" {
			dir := filepath.Join("testdata", "slurm")
			setNodes(t, q.Config, filepath.Join(dir, "nodes.txt"))
			q.Own = slurmConfiguration(t, filepath.Join(dir, "config-b.txt"))
		}
		a := answered(t, q, test.file)
		_, in, err := q.simulate(t.Context(), variant{policy: "easy", seed: 1, scenario: &q.Scenarios[0]})
		if err != nil {
			t.Fatal(err)
		}
		some := slices.ContainsFunc(in.Arrivals, func(a workload.Arrival) bool { return a.Spec.Priority > 0 })
		said := slices.Contains(a.Must, "policies with priorities (easy, kueue, multifactor, oxgang) use the priorities of Workloads; other policies treat all jobs alike")
		if some != test.want || said != test.want {
			t.Errorf("%s: easy knows priorities: %v, and it is said: %v, want both %v", test.of, some, said, test.want)
		}
	}
}
