package registry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/pop"
)

// popEntry is POP-k around one of the others.
func popEntry(others []Entry) Entry {
	d := pop.DefaultOptions()
	own := []Setting{
		{"k", strconv.Itoa(d.Parts), "parts"},
		{"policy", "sia", "policy that plans for each part"},
		{"split", d.Split, "random or balanced"},
		{"seed", strconv.FormatUint(d.Seed, 10), "seed of the parts"},
	}
	settings := slices.Clone(own)
	for _, e := range others {
		for _, s := range e.Settings {
			if !slices.ContainsFunc(settings, func(have Setting) bool { return have.Name == s.Name }) {
				settings = append(settings, Setting{s.Name, "", "of the policy of the parts, if it has it; empty: that policy's default"})
			}
		}
	}
	return Entry{
		Name: "pop", Doc: "POP-k: the cluster and its jobs in k parts, each planned for on its own by another policy.",
		Settings: settings,
		New:      func(given map[string]string) (policy.Policy, error) { return newPop(others, own, settings, given) },
	}
}

// newPop sorts the settings into those of pop and those of the inner policy.
func newPop(others []Entry, own, known []Setting, given map[string]string) (policy.Policy, error) {
	o := pop.DefaultOptions()
	r := read(given, known)
	r.int("k", &o.Parts)
	r.uint("seed", &o.Seed)
	if s, ok := given["split"]; ok {
		o.Split = s
	}
	name := "sia"
	if s, ok := given["policy"]; ok {
		name = s
	}
	at := slices.IndexFunc(others, func(e Entry) bool { return e.Name == name })
	if at < 0 {
		r.errs = append(r.errs, fmt.Errorf("setting policy is %q, want one of %q", name, namesOfEntries(others)))
		return nil, errors.Join(r.errs...)
	}
	inner := others[at]
	pass := make(map[string]string)
	for _, s := range known {
		text := given[s.Name]
		switch {
		case text == "" || slices.Contains(namesOf(own), s.Name):
		case slices.Contains(inner.SettingNames(), s.Name):
			pass[s.Name] = text
		case s.Name != "rules": // which --public sets for every policy
			r.errs = append(r.errs, fmt.Errorf("setting %s is %q, which policy %s does not have", s.Name, text, name))
		}
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	return pop.New(o, func() (policy.Policy, error) { return inner.New(pass) })
}

func namesOfEntries(all []Entry) []string {
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	return names
}

// int sets a whole number that is given.
func (r *reader) int(name string, to *int) {
	if text, ok := r.given[name]; ok {
		v, err := strconv.Atoi(text)
		if err != nil {
			r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want a whole number", name, text))
			return
		}
		*to = v
	}
}

// uint sets a whole number of at least 0 that is given.
func (r *reader) uint(name string, to *uint64) {
	if text, ok := r.given[name]; ok {
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			r.errs = append(r.errs, fmt.Errorf("setting %s is %q, want a whole number of at least 0", name, text))
			return
		}
		*to = v
	}
}
