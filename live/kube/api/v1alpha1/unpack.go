package v1alpha1

import (
	"fmt"

	"github.com/oxgang/oxgang/live/kube/wire"
)

// Unpack decompresses Spec.Packed and Status.Packed, and appends their entries to Spec.Allocations and Status.Jobs. If
// it returns an error, the plan is unchanged.
func (p *Plan) Unpack() error {
	rest, err := wire.UnpackList[JobAllocation](p.Spec.Packed)
	if err != nil {
		return fmt.Errorf("plan %s: spec: %w", p.Name, err)
	}
	states, err := wire.UnpackList[JobState](p.Status.Packed)
	if err != nil {
		return fmt.Errorf("plan %s: status: %w", p.Name, err)
	}
	p.Spec.Allocations, p.Spec.Packed = append(p.Spec.Allocations, rest...), nil
	p.Status.Jobs, p.Status.Packed = append(p.Status.Jobs, states...), nil
	return nil
}
