package registry

import (
	"errors"
	"strings"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/synergy"
)

// publicSynergy makes the policy of Synergy's public code; nil: nobody registered it.
var publicSynergy func(synergy.Options) policy.Policy

// RegisterPublicSynergy makes the rules public-code of Synergy's policies available. A
// program calls it once, before it makes policies.
func RegisterPublicSynergy(f func(synergy.Options) policy.Policy) { publicSynergy = f }

// synergySettings returns the settings of how CPUs and memory are shared, with the defaults of
// o.
func synergySettings(o synergy.Options, mechanisms string) []Setting {
	return []Setting{
		{"mechanism", string(o.Mechanism), mechanisms},
		{"cells", string(o.Cells), "what tune chooses from: all cells of a job's sensitivity matrix, or demand: full demand or the share of its GPUs"},
		{"solver", o.Solver, strings.Join(synergy.Solvers(), ", ")},
		{"rules", string(o.Rules), "paper or public-code"},
	}
}

// synergyEntry is the Synergy policy.
func synergyEntry() Entry {
	d := synergy.DefaultOptions()
	settings := append([]Setting{{"order", d.Order, "who runs first: " + strings.Join(synergy.Orders(), ", ")}},
		synergySettings(d, "proportional, greedy, tune or opt")...)
	return Entry{
		Name: "synergy", Doc: "Synergy: jobs run as submitted, in an order; CPUs and memory go where they speed jobs up.",
		Settings: settings, Placer: "pack", New: newSynergy(d, settings),
	}
}

// bigDataEntry is a policy that counts what a job demands of all resources.
func bigDataEntry(name, doc string) Entry {
	d := synergy.DefaultOptions()
	d.Order, d.Mechanism = name, synergy.Greedy
	settings := synergySettings(d, "greedy: its full demand or nothing; or as of policy synergy")
	return Entry{Name: name, Doc: doc, Settings: settings, Placer: "pack", New: newSynergy(d, settings)}
}

// newSynergy returns how an entry with these defaults and settings is made.
func newSynergy(defaults synergy.Options, settings []Setting) func(map[string]string) (policy.Policy, error) {
	return func(given map[string]string) (policy.Policy, error) {
		o := defaults
		o.Public = publicSynergy
		r := read(given, settings)
		text(r, "order", &o.Order)
		text(r, "mechanism", &o.Mechanism)
		text(r, "cells", &o.Cells)
		text(r, "solver", &o.Solver)
		text(r, "rules", &o.Rules)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return synergy.New(o)
	}
}

// text sets a word that is given.
func text[T ~string](r *reader, name string, to *T) {
	if v, ok := r.given[name]; ok {
		*to = T(v)
	}
}
