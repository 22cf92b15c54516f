package e2e

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// foretells: the plan says what would help a job that asks for more than there is. Written for
// that alone it would be after a minute; the job that comes next brings it along.
func foretells(b *bench, _ *rig.Process) {
	b.create(Queue("train", v1alpha1.Resize, "fifo"))
	defer b.remove("train")
	b.create(Job("wide", "train", 16, 8, nil))
	Until(b.Context(), b, within, "the plan knows wide", func() error { return planned(b.T, b.k, "wide") })
	b.create(Job("small", "train", 1, 8, nil))
	b.runs("small", 1)
	took := Until(b.Context(), b, 2*within, "the plan says what would help", func() error {
		var p v1alpha1.Plan
		if err := b.k.Get(b.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
			return err
		}
		for _, a := range p.Spec.Allocations {
			if a.Name == "wide" && a.Unblock != "" {
				b.Logf("%s", a.Unblock)
				return nil
			}
		}
		return errNot("round %d says nothing", p.Spec.Round)
	})
	b.Logf("after %v", took.Round(10*time.Millisecond))
}
