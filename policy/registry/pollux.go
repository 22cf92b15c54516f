package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/pollux"
)

// polluxEntry is the Pollux policy.
func polluxEntry() Entry {
	settings := polluxSettings()
	return Entry{Name: "pollux", Doc: "Pollux: GPUs and nodes of adaptive jobs chosen together, by goodput and as if there were one GPU type.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := pollux.DefaultOptions()
		r := read(given, settings)
		r.pollux(&o)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return pollux.New(o)
	}}
}

// autoscaleEntry is Pollux on rented nodes.
func autoscaleEntry() Entry {
	d := pollux.DefaultAutoscaleOptions()
	settings := append(polluxSettings(),
		Setting{"target", fmt.Sprint(d.Target), "efficiency of the cluster that is aimed at: speedups over one GPU by GPU, above 0 and below 1"},
		Setting{"least", strconv.Itoa(d.Least), "nodes that are always there, rented or not"},
		Setting{"cycles", strconv.Itoa(d.Cycles), "rounds whose mean efficiency must be off the target before the size changes"})
	return Entry{Name: "pollux-autoscale", Doc: "Pollux on as many rented nodes as keep the cluster's efficiency near a target.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := pollux.DefaultAutoscaleOptions()
		r := read(given, settings)
		r.pollux(&o.Options)
		r.float("target", &o.Target)
		r.int("least", &o.Least)
		r.int("cycles", &o.Cycles)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return pollux.NewAutoscaler(o)
	}}
}

// polluxSettings are those of the search.
func polluxSettings() []Setting {
	d := pollux.DefaultOptions()
	return []Setting{
		{"p", fmt.Sprint(d.P), "exponent of the power mean of speedups, not 0"},
		{"growth", fmt.Sprint(d.Growth), "factor of the most GPUs a job ever had that it may have"},
		{"population", strconv.Itoa(d.Population), "matrices of the genetic search"},
		{"generations", strconv.Itoa(d.Generations), "generations of the search in a round"},
		{"patience", strconv.Itoa(d.Patience), "generations without a better matrix after which a search ends; 0: never"},
		{"seed", strconv.FormatUint(d.Seed, 10), "seed of the search"},
	}
}

// pollux sets those of the search that are given.
func (r *reader) pollux(o *pollux.Options) {
	r.float("p", &o.P)
	r.float("growth", &o.Growth)
	r.int("population", &o.Population)
	r.int("generations", &o.Generations)
	r.int("patience", &o.Patience)
	r.uint("seed", &o.Seed)
}
