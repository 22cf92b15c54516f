package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/simulate/config"
)

// A Run is one policy under one configuration of a sweep.
type Run struct {
	Settings []string // by Sweep.Axes
	Policy   string
	Config   *config.Config // with all Policies, so that all get the same jobs that every one can run
	cell     string         // runs differ in policy and seed
	seed     string
	input    int // equal for the same jobs and nodes
}

// Runs returns all combinations of values, the last axis changing fastest.
func (s *Sweep) Runs() []*Run { return s.runs }

func (s *Sweep) expand() error {
	n := 1
	for _, a := range s.Axes {
		if n *= len(a.Values); n > mostRuns {
			return s.at(s.lines["axes"], "axes: more than %d runs", mostRuns)
		}
	}
	inputs := make(map[string]int)
	for i := range n {
		run, err := s.run(s.values(i))
		if err != nil {
			return err
		}
		key := run.cell + "\n" + run.seed
		if _, known := inputs[key]; !known {
			if err := s.check(run.Config); err != nil {
				return s.blame(run, err)
			}
			inputs[key] = len(inputs)
		}
		run.input = inputs[key]
		s.runs = append(s.runs, run)
	}
	return nil
}

func (s *Sweep) values(i int) []Value {
	values := make([]Value, len(s.Axes))
	for a := len(s.Axes) - 1; a >= 0; a-- {
		all := s.Axes[a].Values
		values[a] = all[i%len(all)]
		i /= len(all)
	}
	return values
}

func (s *Sweep) run(values []Value) (*Run, error) {
	c, err := s.base()
	if err != nil {
		return nil, err
	}
	r := &Run{Config: c}
	var cell []string
	for i, v := range values {
		r.Settings = append(r.Settings, v.Text)
		switch key := s.Axes[i].Key; key {
		case Policy:
			r.Policy = v.Text
			continue
		case Seed:
			r.seed = v.Text
		default:
			cell = append(cell, key+"="+v.Text)
		}
		if err := c.Set(s.Axes[i].Key, v.Text, s.file); err != nil {
			return nil, s.at(v.line, "axes.%w", err)
		}
	}
	r.cell = strings.Join(cell, " ")
	return r, c.Set(Policy, strings.Join(s.policies(), ","), s.file)
}

func (s *Sweep) policies() []string {
	var names []string
	for _, v := range s.axis(Policy).Values {
		names = append(names, v.Text)
	}
	return names
}

// blame finds the line of an error: the common part or the first value that alone causes it, or else all axes.
func (s *Sweep) blame(r *Run, err error) error {
	alone := func(i int) error {
		c, _ := s.base()
		_ = c.Set(Policy, strings.Join(s.policies(), ","), s.file)
		if i >= 0 {
			_ = c.Set(s.Axes[i].Key, r.Settings[i], s.file)
		}
		return s.check(c)
	}
	if base := alone(-1); base != nil && base.Error() == err.Error() {
		return s.at(max(s.lines["set"], s.lines["axes"]), "%w", err)
	}
	for i, a := range s.Axes {
		if a.Key == Policy {
			continue
		}
		if one := alone(i); one != nil && one.Error() == err.Error() {
			at := slices.IndexFunc(a.Values, func(v Value) bool { return v.Text == r.Settings[i] })
			return s.at(a.Values[at].line, "axes.%s: %w", a.Key, err)
		}
	}
	return s.at(s.lines["axes"], "axes: %s: %w", r.Name(s), err)
}

// Name returns the values of the axes, as the name of the run.
func (r *Run) Name(s *Sweep) string {
	parts := make([]string, len(s.Axes))
	for i, a := range s.Axes {
		parts[i] = fmt.Sprintf("%s=%s", a.Key, r.Settings[i])
	}
	return strings.Join(parts, " ")
}
