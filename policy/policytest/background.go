package policytest

import (
	"context"
	"errors"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/policy"
)

// An outcome is what happens to background work between two rounds.
type outcome struct {
	late  bool // it does not end yet
	fails bool // an error comes of it
}

var errFailed = errors.New("the work failed: its world will have it so")

func drawOutcome(t *rapid.T) outcome {
	return outcome{late: oneIn(t, 4, "work is late"), fails: oneIn(t, 5, "work fails")}
}

// A controller runs the background work of one policy.
type controller struct {
	// again does work a second time when it ends, and takes what that returns: the
	// same, unless the work is no pure function.
	again    bool
	work     policy.Work // under way; nil: none
	computed any         // by the work that ended since the last round
}

// busy reports whether work is under way once a plan is carried out.
func (d *controller) busy(p *policy.Plan) bool { return d.work != nil || p.Background != nil }

// advance starts the work of a plan, unless one is under way, and ends what is
// under way, unless it is late.
func (d *controller) advance(p *policy.Plan, f outcome) {
	d.computed = nil
	if d.work == nil && p.Background != nil {
		d.work = d.begin(p.Background)
	}
	if d.work == nil || f.late {
		return
	}
	d.computed, d.work = d.work.Do(context.Background()), nil
	if f.fails {
		d.computed = errFailed
	}
}

// begin does work, without Do: its panics are a defect. It returns what is left to
// do.
func (d *controller) begin(work policy.Work) policy.Work {
	result := work(context.Background())
	if d.again {
		return work
	}
	return func(context.Context) any { return result }
}
