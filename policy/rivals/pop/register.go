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

func entry(others []registry.Entry) registry.Entry {
	others = slices.Clone(others)
	return registry.WithOptions(registry.Entry{
		Name: "pop", Doc: "POP-k: divides the cluster and its jobs into k parts, each planned by another policy.",
	}, func() settings { return settings{Options: DefaultOptions(), policy: "sia", others: others} }, bind, build)
}

type settings struct {
	Options
	policy string
	others []registry.Entry
	inner  []*innerSetting
}

type innerSetting struct{ name, text string }

func bind(s *registry.Settings, o *settings) {
	s.Var("k", &o.Parts, "number of parts")
	s.Var("policy", &o.policy, "policy of each part")
	s.Var("split", &o.Split, "random or balanced")
	s.Var("seed", &o.Seed, "seed of the random split")
	for i := range o.others {
		for _, other := range o.others[i].Settings {
			if !s.Has(other.Name) {
				g := &innerSetting{name: other.Name}
				o.inner = append(o.inner, g)
				s.Var(g.name, &g.text, "setting of the policy of the parts; empty: its default")
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
		case g.name != "rules": // --public sets rules for every policy
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
