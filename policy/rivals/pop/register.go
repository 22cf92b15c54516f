package pop

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/policy/sia"
)

func init() {
	registry.AddAround("pop", entry)
	sia.InParts = func(k int, part func() (policy.Policy, error)) (policy.Policy, error) {
		o := DefaultOptions()
		o.Parts = k
		return New(o, part)
	}
}

// entry returns POP around one of others.
func entry(others []registry.Entry) registry.Entry {
	others = slices.Clone(others)
	return registry.WithOptions(registry.Entry{
		Name: "pop", Doc: "POP-k: the cluster and its jobs in k parts, each planned for on its own by another policy.",
	}, func() settings { return settings{Options: DefaultOptions(), policy: "sia", others: others} }, bind, build)
}

type settings struct {
	Options
	policy string
	others []registry.Entry
	inner  []*given // settings of any of others
}

// given is the text of a setting of the inner policy; empty: its default.
type given struct{ name, text string }

func bind(s *registry.Settings, o *settings) {
	s.Var("k", &o.Parts, "parts")
	s.Var("policy", &o.policy, "policy that plans for each part")
	s.Var("split", &o.Split, "random or balanced")
	s.Var("seed", &o.Seed, "seed of the parts")
	for i := range o.others {
		for _, other := range o.others[i].Settings {
			if !s.Has(other.Name) {
				g := &given{name: other.Name}
				o.inner = append(o.inner, g)
				s.Var(g.name, &g.text, "of the policy of the parts, if it has it; empty: that policy's default")
			}
		}
	}
}

func build(s settings) (*Policy, error) {
	at := slices.IndexFunc(s.others, func(e registry.Entry) bool { return e.Name == s.policy })
	if at < 0 {
		return nil, fmt.Errorf("setting policy is %q, want one of %q", s.policy, names(s.others))
	}
	inner := &s.others[at]
	pass := make(map[string]string)
	var errs []error
	for _, g := range s.inner {
		switch {
		case g.text == "":
		case inner.Has(g.name):
			pass[g.name] = g.text
		case g.name != "rules": // which --public sets for every policy
			errs = append(errs, fmt.Errorf("setting %s is %q, which policy %s does not have", g.name, g.text, s.policy))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return New(s.Options, func() (policy.Policy, error) { return inner.New(pass) })
}

func names(all []registry.Entry) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}
