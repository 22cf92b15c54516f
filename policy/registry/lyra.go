package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra"
)

// lyraEntry is Lyra.
func lyraEntry() Entry {
	d := lyra.DefaultOptions()
	settings := []Setting{
		{"order", string(d.Allocate.Order), "whose turn it is (sjf, fifo)"},
		{"growth", string(d.Allocate.Growth), "how elastic jobs share the GPUs that are left (knapsack, none, gandiva, afs)"},
		{"pause", fmt.Sprint(d.Allocate.Pause), "what a change of workers is taken to cost a running job; with growth knapsack"},
		{"patience", fmt.Sprint(d.Patience), "time after which a job that waits goes first; 0: never"},
		{"rule", string(d.Reclaim.Rule), "how servers on loan that go back are chosen (greedy, random, scf, exact)"},
		{"steps", strconv.Itoa(d.Reclaim.MaxSteps), "most steps of rule exact, about 12 ns each"},
		{"loan", string(d.Loan), "what runs on servers on loan (loan, opportunity, none)"},
		{"group", strconv.FormatBool(d.Group), "whether base and flexible workers have servers of their own (true, false)"},
		{"foresee", strconv.FormatBool(d.Foresee), "whether jobs go by when servers on loan will be asked back (true, false)"},
		{"seed", strconv.FormatUint(d.Reclaim.Seed, 10), "seed of rule random"},
	}
	return Entry{Name: "lyra", Doc: "Lyra: an inference cluster's servers on loan; short jobs first, then elastic jobs grow where that saves most time.", Settings: settings, Placer: "best-fit", New: func(given map[string]string) (policy.Policy, error) {
		o := lyra.DefaultOptions()
		r := read(given, settings)
		word(r, "order", &o.Allocate.Order)
		word(r, "growth", &o.Allocate.Growth)
		r.duration("pause", &o.Allocate.Pause)
		r.duration("patience", &o.Patience)
		word(r, "rule", &o.Reclaim.Rule)
		r.int("steps", &o.Reclaim.MaxSteps)
		word(r, "loan", &o.Loan)
		r.bool("group", &o.Group)
		r.bool("foresee", &o.Foresee)
		r.uint("seed", &o.Reclaim.Seed)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return lyra.New(o)
	}}
}

// word sets a name that is given; whether there is such a one, the policy's options say.
func word[T ~string](r *reader, name string, to *T) {
	if text, ok := r.given[name]; ok {
		*to = T(text)
	}
}
