package registry

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/pop"
	"github.com/oxgang/oxgang/policy/sia"
)

// siaEntry is the Sia policy.
func siaEntry() Entry {
	d := sia.DefaultOptions()
	settings := []Setting{
		{"p", fmt.Sprint(d.P), "fairness exponent, not 0"},
		{"lambda", fmt.Sprint(d.Lambda), "penalty for giving a job nothing"},
		{"growth", fmt.Sprint(d.Growth), "factor by which a job's GPUs may grow in a round"},
		{"solver", d.Solver, strings.Join(sia.Solvers(), ", ") + ", or pop:K: exact in K parts (pop:K:NAME: by another)"},
		{"cells", strconv.FormatBool(d.Cells), "CPUs and memory are chosen with GPUs, where nodes count them; else all get their GPU-proportional share"},
		{"ties", "0", "which of equally good plans: 0 serves first who came first, any other number at random"},
		{"rules", "thesis", "thesis or public-code"},
	}
	return Entry{Name: "sia", Doc: "Sia: GPU type and count of adaptive jobs chosen together, by goodput.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := sia.DefaultOptions()
		r := read(given, settings)
		r.float("p", &o.P)
		r.float("lambda", &o.Lambda)
		r.float("growth", &o.Growth)
		r.bool("cells", &o.Cells)
		r.uint("ties", &o.Ties)
		if s, ok := given["solver"]; ok {
			o.Solver = s
		}
		switch given["rules"] {
		case "", "thesis":
		case "public-code":
			o.PublicCode()
		default:
			r.errs = append(r.errs, fmt.Errorf("setting rules is %q, want thesis or public-code", given["rules"]))
		}
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return newSia(o)
	}}
}

// newSia returns Sia; with a solver "pop:K", Sia in K parts.
func newSia(o sia.Options) (policy.Policy, error) {
	parts, ok := strings.CutPrefix(o.Solver, "pop:")
	if !ok {
		return sia.New(o)
	}
	count, solver, named := strings.Cut(parts, ":")
	k, err := strconv.Atoi(count)
	if err != nil {
		return nil, fmt.Errorf("setting solver is %q: %q parts, want a whole number", o.Solver, count)
	}
	if o.Solver = solver; !named {
		o.Solver = sia.Exact
	}
	split := pop.DefaultOptions()
	split.Parts = k
	return pop.New(split, func() (policy.Policy, error) { return sia.New(o) })
}

// float sets a number that is given.
func (r *reader) float(name string, to *float64) {
	if text, ok := r.given[name]; ok {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want a number", name, text))
			return
		}
		*to = v
	}
}

// duration sets a time that is given.
func (r *reader) duration(name string, to *time.Duration) {
	if text, ok := r.given[name]; ok {
		v, err := time.ParseDuration(text)
		if err != nil {
			r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want a duration such as 180s", name, text))
			return
		}
		*to = v
	}
}
