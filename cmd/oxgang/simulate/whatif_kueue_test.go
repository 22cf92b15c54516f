package simulate

import (
	"testing"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/trace"
)

// The quotas of a history become settings of policy kueue, which stands for the cluster's own.
func TestOwn_kueue(t *testing.T) {
	eight, four := 8, 4
	h := &trace.History{Format: "kubernetes", Quotas: []trace.Quota{
		{Queue: "team-a", Cohort: "all", Flavors: []trace.FlavorQuota{{Flavor: "big", Types: []cluster.GPUType{"a100", "h100"}, Nominal: 24, Borrow: &eight}}},
		{Queue: "team-b", Cohort: "all", Strict: true, Flavors: []trace.FlavorQuota{{Flavor: "big", Nominal: 16, Lend: &four}}},
	}}
	if got := own(h); got != "kueue" {
		t.Errorf("own policy %q, want kueue", got)
	}
	var o ownSettings
	if err := o.learn(h); err != nil {
		t.Fatal(err)
	}
	if want := "kueue.queues=team-a@all big=a100|h100:24+8; team-b@all! big=*:16-4"; len(o.settings) != 1 || o.settings[0] != want {
		t.Errorf("settings %q, want %q", o.settings, want)
	}
}
