package boa

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "boa", Doc: "BOA Constrictor: rented GPUs within a budget; each class of jobs has the widths that make all end soonest.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("budget", &o.Budget, "what may be spent per hour on average, in unit; 0: no limit")
	BindUnit(s, o)
	registry.Enum(s, "method", &o.Method, Methods(), "how widths are chosen (mixture, single, published)")
	s.Var("widest", &o.Widest, "most GPUs of a job")
	s.Var("recompute", &o.Recompute, "time for which widths stand at least")
	s.Var("window", &o.Window, "time in any stretch of which the budget holds")
	s.Var("slack", &o.Slack, "part of the budget by which it may be exceeded there")
	s.Var("horizon", &o.Horizon, "time in which what was spent too much is saved; 0: spending does not feed back, and nothing is promised")
}

// BindUnit adds the setting of Options.Money.
func BindUnit(s *registry.Settings, o *Options) {
	registry.Enum(s, "unit", (*unit)(&o.Money), []unit{false, true}, "of the budget: gpu-hours, or money at the prices of nodes")
}

type unit bool

// String returns the unit's name.
func (u unit) String() string {
	if u {
		return "money"
	}
	return "gpu-hours"
}
