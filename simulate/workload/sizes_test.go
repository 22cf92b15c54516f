package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
)

// A user knows that a job under GNS never scales down; published profiles have it do so in
// its last epoch.
func TestSizes(t *testing.T) {
	regimes := []job.Regime{{BatchSize: 64, Epochs: 11}, {BatchSize: 128, Epochs: 50}, {BatchSize: 64, Epochs: 1}}
	if diff := cmp.Diff([]int{64, 128}, sizes(job.GNS, regimes)); diff != "" {
		t.Errorf("GNS (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{64, 128, 64}, sizes(job.Accordion, regimes)); diff != "" {
		t.Errorf("Accordion (-want +got):\n%s", diff)
	}
}
