package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
	"github.com/oxgang/oxgang/policy/oxgang"
)

// oxgangEntry is the policy of this project.
func oxgangEntry() Entry {
	d := oxgang.DefaultOptions()
	settings := []Setting{
		{"makespan", fmt.Sprint(d.Makespan), "0 to 1: what the end of all jobs counts beside their mean completion time"},
		{"sizes", d.Sizes, "what is believed of the work a job has: stated, class (as jobs of its class), attained (as much GPU time again as it had)"},
		{"budget", "none", "what may be spent per hour on average on rented nodes, in unit; 0: no limit; none: nothing is rented"},
		{"unit", "gpu-hours", "of the budget: gpu-hours, or money at the prices of nodes"},
		{"p", fmt.Sprint(d.P), "exponent of a goodput's value, not 0"},
		{"lambda", fmt.Sprint(d.Lambda), "what it is worth that a job runs at all"},
		{"growth", fmt.Sprint(d.Growth), "factor by which a job's GPUs may grow in a round"},
		{"start", strconv.Itoa(d.Start), "GPUs on which a job may begin, at most, unless it needs more"},
		{"solver", d.Solver, "price, copter, exact, lp-exact"},
		{"cells", strconv.FormatBool(d.Cells), "CPUs and memory are chosen with GPUs, where nodes count them; else all get their GPU-proportional share"},
		{"ties", "0", "which of equally good plans: 0 serves first who came first, any other number at random"},
	}
	return Entry{Name: "oxgang", Doc: "Oxgang: for all jobs together the GPU type, count, CPUs and memory, by goodput, work left and what a move costs.", Settings: settings, Placer: "racks", New: func(given map[string]string) (policy.Policy, error) {
		o := oxgang.DefaultOptions()
		r := read(given, settings)
		o.Rent = r.rent()
		r.float("makespan", &o.Makespan)
		r.text("sizes", &o.Sizes)
		r.float("p", &o.P)
		r.float("lambda", &o.Lambda)
		r.float("growth", &o.Growth)
		r.int("start", &o.Start)
		r.text("solver", &o.Solver)
		r.bool("cells", &o.Cells)
		r.uint("ties", &o.Ties)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return oxgang.New(o)
	}}
}

// text sets a text that is given.
func (r *reader) text(name string, to *string) {
	if text, ok := r.given[name]; ok {
		*to = text
	}
}

// rent returns how nodes are rented; nil if they are not.
func (r *reader) rent() *boa.Options {
	if text, ok := r.given["budget"]; !ok || text == "none" {
		return nil
	}
	o := boa.DefaultOptions()
	r.float("budget", &o.Budget)
	r.unit("unit", &o.Money)
	return &o
}
