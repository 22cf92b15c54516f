package e2e

import (
	"math"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/train"
	"github.com/oxgang/oxgang/model/job"
)

// believes logs how far the progress that the plan has of jobs is from what they trained.
func (l *Trial) believes(e *train.Emulator) {
	l.Helper()
	var p v1alpha1.Plan
	if err := l.Client.Get(l.Context(), client.ObjectKey{Name: "crowd"}, &p); err != nil {
		l.Logf("plan: %v", err)
		return
	}
	truth := e.States()
	var off []float64
	for _, s := range p.Status.Jobs {
		t, known := truth[job.ID(s.UID)]
		if known && t.Target > 0 && t.Training {
			off = append(off, math.Abs(t.Progress-float64(s.ProgressMilli)/1000)/t.Target)
		}
	}
	if len(off) == 0 {
		return
	}
	slices.Sort(off)
	l.Logf("        plan %d: %d jobs train; their progress is off by %.1f %% of their training in the median, %.1f %% at most",
		p.Spec.Round, len(off), 100*off[len(off)/2], 100*off[len(off)-1])
}
