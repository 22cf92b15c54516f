package policytest

import (
	"context"
	"errors"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/policy"
)

type outcome struct {
	late  bool // it takes longer
	fails bool
}

var errFailed = errors.New("background work failed by chance")

func drawOutcome(t *rapid.T) outcome {
	return outcome{late: oneIn(t, 4, "work is late"), fails: oneIn(t, 5, "work fails")}
}

type controller struct {
	// again also checks that finished work is a pure function.
	again    bool
	work     policy.Work
	computed any
}

func (d *controller) busy(p *policy.Plan) bool { return d.work != nil || p.Background != nil }

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

func (d *controller) begin(work policy.Work) policy.Work {
	result := work(context.Background())
	if d.again {
		return work
	}
	return func(context.Context) any { return result }
}
