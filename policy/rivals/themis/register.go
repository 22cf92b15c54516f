package themis

import (
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy/registry"
)

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "themis", Doc: "Themis: the jobs with the worst finish-time fairness bid for GPUs in an auction each round; the others share the rest.",
	}, defaults, bind, build))
}

type settings struct {
	Options
	filter string
}

func defaults() settings {
	o := DefaultOptions()
	return settings{o, fmt.Sprint(o.Filter)}
}

func bind(s *registry.Settings, o *settings) {
	s.Var("filter", &o.filter, "fraction of the jobs that bid, worst treated first, above 0 and at most 1; or adaptive: 1/3 or 2/3")
	s.Var("payments", &o.Payments, "winners pay with a part of their GPUs (true, false)")
}

func build(s settings) (*Policy, error) {
	if s.Adaptive = s.filter == "adaptive"; !s.Adaptive {
		var err error
		if s.Filter, err = strconv.ParseFloat(s.filter, 64); err != nil {
			return nil, fmt.Errorf("setting filter is %q, want a number or adaptive", s.filter)
		}
	}
	return New(s.Options)
}
