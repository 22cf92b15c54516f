package builtin

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/pollux"
)

// polluxEntry is the Pollux policy.
func polluxEntry() Entry {
	d := pollux.DefaultOptions()
	settings := []Setting{
		{"p", fmt.Sprint(d.P), "exponent of the power mean of speedups, not 0"},
		{"growth", fmt.Sprint(d.Growth), "factor of the most GPUs a job ever had that it may have"},
		{"population", strconv.Itoa(d.Population), "matrices of the genetic search"},
		{"generations", strconv.Itoa(d.Generations), "generations of the search in a round"},
		{"patience", strconv.Itoa(d.Patience), "generations without a better matrix after which a search ends; 0: never"},
		{"seed", strconv.FormatUint(d.Seed, 10), "seed of the search"},
	}
	return Entry{Name: "pollux", Doc: "Pollux: GPUs and nodes of adaptive jobs chosen together, by goodput and as if there were one GPU type.", Settings: settings, Adapts: true, New: func(given map[string]string) (policy.Policy, error) {
		o := pollux.DefaultOptions()
		r := read(given, settings)
		r.float("p", &o.P)
		r.float("growth", &o.Growth)
		r.int("population", &o.Population)
		r.int("generations", &o.Generations)
		r.int("patience", &o.Patience)
		r.uint("seed", &o.Seed)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return pollux.New(o)
	}}
}
