package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
)

// boaEntry is BOA Constrictor.
func boaEntry() Entry {
	d := boa.DefaultOptions()
	settings := []Setting{
		{"budget", fmt.Sprint(d.Budget), "what may be spent per hour on average, in unit; 0: no limit"},
		{"unit", "gpu-hours", "of the budget: gpu-hours, or money at the prices of nodes"},
		{"method", d.Method.String(), "how widths are chosen (mixture, single, published)"},
		{"widest", strconv.Itoa(d.Widest), "most GPUs of a job"},
		{"recompute", fmt.Sprint(d.Recompute), "time for which widths stand at least"},
		{"window", fmt.Sprint(d.Window), "time in any stretch of which the budget holds"},
		{"slack", fmt.Sprint(d.Slack), "part of the budget by which it may be exceeded there"},
		{"horizon", fmt.Sprint(d.Horizon), "time in which what was spent too much is saved; 0: spending does not feed back, and nothing is promised"},
	}
	return Entry{Name: "boa", Doc: "BOA Constrictor: rented GPUs within a budget; each class of jobs has the widths that make all end soonest.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := boa.DefaultOptions()
		r := read(given, settings)
		r.float("budget", &o.Budget)
		r.unit("unit", &o.Money)
		r.method("method", &o.Method)
		r.int("widest", &o.Widest)
		r.duration("recompute", &o.Recompute)
		r.duration("window", &o.Window)
		r.float("slack", &o.Slack)
		r.duration("horizon", &o.Horizon)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return boa.New(o)
	}}
}

// unit sets whether a budget is money.
func (r *reader) unit(name string, money *bool) {
	switch text, ok := r.given[name]; {
	case ok && text == "money":
		*money = true
	case ok && text != "gpu-hours":
		r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want gpu-hours or money", name, text))
	}
}

// method sets a way to choose widths that is given.
func (r *reader) method(name string, to *boa.Method) {
	text, ok := r.given[name]
	if !ok {
		return
	}
	for _, m := range boa.Methods() {
		if m.String() == text {
			*to = m
			return
		}
	}
	r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want mixture, single or published", name, text))
}
