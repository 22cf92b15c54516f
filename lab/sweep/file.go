package sweep

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/simulate/config"
)

// The axes of every sweep: compared, and repeated.
const (
	Policy = "policy"
	Seed   = "seed"
)

const mostRuns = 100_000

// A Sweep is a grid of configurations: every combination of the values of its axes.
type Sweep struct {
	Axes     []Axis // settings that vary, Policy and Seed included, each with a value
	Baseline string // a value of Policy
	Measures []string

	file  string
	set   *yaml.Node // of all runs; may be nil
	lines map[string]int
	check func(*config.Config) error
	runs  []*Run
}

// An Axis is a setting and the values that it takes in a sweep.
type Axis struct {
	Key    string
	Values []Value
}

// A Value is the text of one value of a setting.
type Value struct {
	Text string
	line int
}

// Read reads a sweep from YAML and checks each of its configurations. Errors have file (name), line and field.
func Read(r io.Reader, name string, check func(*config.Config) error) (*Sweep, error) {
	var doc yaml.Node
	switch err := yaml.NewDecoder(r).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: the file is empty, want axes", name)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Sweep{file: name, lines: make(map[string]int), check: check}
	if err := s.read(doc.Content[0]); err != nil {
		return nil, err
	}
	if err := errors.Join(s.complete(), s.checkMeasures()); err != nil {
		return nil, err
	}
	return s, s.expand()
}

func (s *Sweep) read(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return s.at(n.Line, "want a mapping with axes, set, baseline and measures")
	}
	var errs []error
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if first, twice := s.lines[key.Value]; twice {
			errs = append(errs, s.at(key.Line, "%s is listed twice, first in line %d", key.Value, first))
			continue
		}
		s.lines[key.Value] = key.Line
		errs = append(errs, s.field(key, value))
	}
	return errors.Join(errs...)
}

func (s *Sweep) field(key, value *yaml.Node) error {
	switch key.Value {
	case "axes":
		return s.readAxes(value)
	case "set":
		s.set = value
		return config.Default().Node(value, s.file)
	case "baseline":
		s.Baseline = value.Value
		return s.want(value, "baseline", yaml.ScalarNode)
	case "measures":
		for _, m := range value.Content {
			s.Measures = append(s.Measures, m.Value)
			s.lines["measures."+m.Value] = m.Line
		}
		return s.want(value, "measures", yaml.SequenceNode)
	default:
		return s.at(key.Line, "%s: unknown field, want axes, set, baseline or measures", key.Value)
	}
}

func (s *Sweep) want(n *yaml.Node, field string, kind yaml.Kind) error {
	switch {
	case n.Kind == kind:
		return nil
	case kind == yaml.ScalarNode:
		return s.at(n.Line, "%s: want one value", field)
	default:
		return s.at(n.Line, "%s: want a list", field)
	}
}

func (s *Sweep) readAxes(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return s.at(n.Line, "axes: want a mapping of settings to lists of values")
	}
	var errs []error
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Key == key.Value }) {
			errs = append(errs, s.at(key.Line, "axes.%s is listed twice", key.Value))
			continue
		}
		a, err := s.readAxis(key.Value, value)
		s.Axes = append(s.Axes, a)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *Sweep) readAxis(key string, n *yaml.Node) (Axis, error) {
	a := Axis{Key: key}
	if first, last, ok := rangeOf(n); ok {
		if first > last || last-first >= mostRuns {
			return a, s.at(n.Line, "axes.%s: %q, want a range from the smaller number to the larger", key, n.Value)
		}
		for x := first; x <= last; x++ {
			a.Values = append(a.Values, Value{strconv.FormatUint(x, 10), n.Line})
		}
	} else if n.Kind == yaml.SequenceNode {
		for _, e := range n.Content {
			a.Values = append(a.Values, Value{scalar(e), e.Line})
		}
	} else {
		a.Values = []Value{{scalar(n), n.Line}}
	}
	if len(a.Values) == 0 {
		return a, s.at(n.Line, "axes.%s: no value", key)
	}
	var errs []error
	known := make(map[string]bool)
	for _, v := range a.Values {
		if known[v.Text] {
			errs = append(errs, s.at(v.line, "axes.%s: %q is listed twice", key, v.Text))
		} else if key == Policy && (v.Text == "" || strings.Contains(v.Text, ",")) {
			errs = append(errs, s.at(v.line, "axes.%s: %q, want the name of one policy", key, v.Text))
		} else if err := config.Default().Set(key, v.Text, s.file); err != nil {
			errs = append(errs, s.at(v.line, "axes.%w", err))
		}
		known[v.Text] = true
	}
	return a, errors.Join(errs...)
}

func rangeOf(n *yaml.Node) (first, last uint64, ok bool) {
	from, to, ok := strings.Cut(n.Value, "..")
	if n.Kind != yaml.ScalarNode || !ok {
		return 0, 0, false
	}
	first, err := strconv.ParseUint(from, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	last, err = strconv.ParseUint(to, 10, 64)
	return first, last, err == nil
}

func scalar(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		return n.Value
	}
	parts := make([]string, len(n.Content))
	for i, e := range n.Content {
		parts[i] = e.Value
	}
	return strings.Join(parts, ",")
}

// complete adds missing axes, and checks the baseline.
func (s *Sweep) complete() error {
	if len(s.Axes) == 0 {
		return fmt.Errorf("%s: no axes, want at least policy and seed", s.file)
	}
	base, err := s.base()
	if err != nil {
		return err
	}
	for key, values := range map[string][]string{Policy: base.Policies, Seed: {base.Get(Seed)}} {
		switch {
		case s.axis(key) == nil:
			a := Axis{Key: key}
			for _, v := range values {
				a.Values = append(a.Values, Value{v, s.lines["axes"]})
			}
			s.Axes = append(s.Axes, a)
		case base.IsSet(key):
			return s.at(s.lines["set"], "set.%s is an axis too; remove one of them", key)
		}
	}
	// the map has no order
	slices.SortStableFunc(s.Axes, func(a, b Axis) int { return last(a.Key) - last(b.Key) })
	policies := s.axis(Policy).Values
	if s.Baseline == "" {
		s.Baseline = policies[0].Text
	}
	if !slices.ContainsFunc(policies, func(v Value) bool { return v.Text == s.Baseline }) {
		return s.at(s.lines["baseline"], "baseline: policy %q is not in axes.policy", s.Baseline)
	}
	return nil
}

func last(key string) int { return slices.Index([]string{Policy, Seed}, key) }

func (s *Sweep) axis(key string) *Axis {
	if i := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Key == key }); i >= 0 {
		return &s.Axes[i]
	}
	return nil
}

func (s *Sweep) base() (*config.Config, error) {
	c := config.Default()
	if s.set == nil {
		return c, nil
	}
	return c, c.Node(s.set, s.file)
}

func (s *Sweep) at(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", s.file, line, fmt.Errorf(format, args...))
}
