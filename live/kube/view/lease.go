package view

import (
	"context"
	"errors"
	"time"
)

// leader is the name of the lease that the scheduler renews every few seconds while it runs.
const leader = "oxgang-leader"

type lease struct {
	Spec struct {
		Renewed *time.Time `json:"renewTime"`
	} `json:"spec"`
}

// longestSilence is the time without a renewal after which the scheduler counts as dead. Another scheduler takes over
// after 8 s; the rest allows for clocks that differ.
const longestSilence = time.Minute

// listen sets at.Silent. A cluster without the lease, because leader election is off, leaves it unknown.
func (at *Look) listen(ctx context.Context, k *Kubectl) error {
	all, err := list[lease](ctx, k, "leases.coordination.k8s.io", "-A", "--field-selector", "metadata.name="+leader)
	if errors.Is(err, ErrForbidden) {
		return at.lacks(&err, "leases: whether the scheduler answers is not known")
	}
	if err != nil && !unseen(err) {
		return err
	}
	var last time.Time
	for i := range all {
		if r := all[i].Spec.Renewed; r != nil && r.After(last) {
			last = *r
		}
	}
	if !last.IsZero() && at.At.Sub(last) > longestSilence {
		at.Silent = last
	}
	return nil
}
