package boa

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "boa", Doc: "BOA Constrictor: rents GPUs within a budget; gives each class of jobs the GPU counts with the least mean completion time.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("budget", &o.Budget, "mean spending allowed per hour, in unit; 0: no limit")
	BindUnit(s, o)
	registry.Enum(s, "method", &o.Method, methods(), "how GPU counts are chosen (mixture, single, published)")
	s.Var("widest", &o.Widest, "most GPUs of a job")
	s.Var("recompute", &o.Recompute, "least time between computations of GPU counts")
	s.Var("window", &o.Window, "length of the intervals in which the budget holds")
	s.Var("slack", &o.Slack, "fraction by which an interval may exceed the budget")
	s.Var("horizon", &o.Horizon, "time in which overspending is made up for; 0: past spending is ignored, and the budget is not guaranteed")
}

// BindUnit adds the setting for Options.Money, which selects whether the budget is money or GPU-hours.
func BindUnit(s *registry.Settings, o *Options) {
	registry.Enum(s, "unit", (*unit)(&o.Money), []unit{false, true}, "unit of the budget: gpu-hours, or money at node prices")
}

type unit bool

func (u unit) String() string {
	if u {
		return "money"
	}
	return "gpu-hours"
}
