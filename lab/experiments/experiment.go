// Package experiments reproduces tables and figures of papers, and runs every policy on every kind of workload.
package experiments

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

//go:embed boa copter lyra matrix oxgang results shockwave sia synergy papers.yaml
var library embed.FS

const matrixFolder = "matrix/"

// An Experiment reproduces a table or figure of a paper: what to run, and what was published.
type Experiment struct {
	Name   string    `yaml:"-"` // such as "sia/table-3.3"
	Title  string    `yaml:"title"`
	Source string    `yaml:"source"` // paper, section
	CI     bool      `yaml:"ci"`
	Config yaml.Node `yaml:"config"` // settings of all runs
	Runs   []Plan    `yaml:"runs"`
	Checks []Check   `yaml:"checks"`
	Notes  []string  `yaml:"notes"` // such as why a figure falls short
}

// A Plan states what to simulate under one policy, or which case study of solvers to run. It has a run for each pair of
// trace and seed. In Config, {data} stands for the folder of the shared data and {n} for the number of the trace; a
// path that starts with "embedded:" is relative to lab/experiments.
type Plan struct {
	Name   string    `yaml:"name"`
	Policy string    `yaml:"policy"`
	Traces []int     `yaml:"traces"`
	Seeds  int       `yaml:"seeds"` // number of successive seeds, from the seed in Config on; default 1
	Config yaml.Node `yaml:"config"`
	Study  *Study    `yaml:"study"`
}

// A Check compares metrics of a run, or their ratios to the metrics of another run, with the published ones.
type Check struct {
	Name string `yaml:"name"` // default: the name of Run
	Run  Group  `yaml:"run"`
	Over Group  `yaml:"over"` // if set, figures are ratios of Run to Over
	// Along, if set, is the metric on the x axis of two curves, through the runs of Run and of Over. A figure is then
	// the largest ratio of the second curve to the first; with Least, the smallest.
	Along     string  `yaml:"along"`
	Least     bool    `yaml:"least"`
	Published Figures `yaml:"published"`
	Why       string  `yaml:"why"` // cause of the figures outside their bands, or what was tried if it is unknown
	// Shown is what shows the cause: "row: NAME", another row whose figures are inside; "public: EXPERIMENT", an
	// experiment with the published code's own figures; or a command. Empty: the cause is unknown.
	Shown string `yaml:"shown"`
	// Wanted are our targets. Missing one gives the verdict Short, not an error.
	Wanted Figures `yaml:"wanted"`
}

// A Group is one or several runs. Its metrics are means over these runs.
type Group []string

// UnmarshalYAML reads one name or a list.
func (g *Group) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode((*[]string)(g))
	}
	*g = Group{""}
	return n.Decode(&(*g)[0])
}

func (g Group) String() string { return strings.Join(g, ", ") }

// Names returns the names of all experiments, sorted.
func Names() []string {
	var names []string
	_ = fs.WalkDir(library, ".", func(path string, _ fs.DirEntry, err error) error { // embedded: cannot fail
		if name, ok := strings.CutSuffix(path, ".yaml"); ok && err == nil && strings.Contains(path, "/") && !strings.HasPrefix(path, matrixFolder) {
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names
}

// Find returns the experiment with a name.
func Find(name string) (*Experiment, error) {
	data, err := library.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("experiment %q is not known, want one of %s", name, strings.Join(Names(), ", "))
	}
	return parse(name, data)
}

// parse reads an experiment from YAML. Unknown keys, metrics and runs are errors.
func parse(name string, data []byte) (*Experiment, error) {
	e := &Experiment{Name: name}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(e); err != nil {
		return nil, fmt.Errorf("%s.yaml: %w", name, err)
	}
	return e, e.validate()
}

func (e *Experiment) validate() error {
	var errs []error
	runs := make(map[string]bool)
	for _, p := range e.Runs {
		if p.Name == "" || (p.Policy == "") == (p.Study == nil) || runs[p.Name] {
			errs = append(errs, fmt.Errorf("%s: run %q of policy %q, want a unique name, and a policy or a study", e.Name, p.Name, p.Policy))
		}
		if p.Study != nil {
			errs = append(errs, p.Study.validate())
		}
		runs[p.Name] = true
	}
	for _, c := range e.Checks {
		missing := func(name string) bool { return !runs[name] }
		if len(c.Run) == 0 || slices.ContainsFunc(slices.Concat(c.Run, c.Over), missing) {
			errs = append(errs, fmt.Errorf("%s: check of run %q over %q, want runs of this experiment", e.Name, c.Run, c.Over))
		}
		if _, ok := findMetric(c.Along); c.Along != "" && (!ok || len(c.Over) < 2) {
			errs = append(errs, fmt.Errorf("%s: check of run %q along %q over %q, want a metric and several runs", e.Name, c.Run, c.Along, c.Over))
		}
	}
	return errors.Join(errs...)
}

// configs returns the configurations of plan p, one for each of its runs. data is the folder of the shared data.
func (e *Experiment) configs(p *Plan, data string) ([]*config.Config, error) {
	traces := p.Traces
	if len(traces) == 0 {
		traces = []int{0}
	}
	var all []*config.Config
	for _, n := range traces {
		for seed := range max(1, p.Seeds) {
			c := config.Default()
			for _, node := range []*yaml.Node{&e.Config, &p.Config} {
				if node.Kind == 0 {
					continue
				}
				if err := c.Node(filled(node, data, n), e.Name+".yaml"); err != nil {
					return nil, err
				}
			}
			c.Policies = []string{p.Policy}
			c.Sim.Seed += uint64(seed)
			if err := c.Validate(); err != nil {
				return nil, fmt.Errorf("%s: run %s: %w", e.Name, p.Name, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

const embedded = "embedded:"

func withLibrary(files run.Files) run.Files {
	open := files.Open
	files.Open = func(name string) (io.ReadCloser, error) {
		if path, ok := strings.CutPrefix(name, embedded); ok {
			return library.Open(path)
		}
		return open(name)
	}
	return files
}

func filled(n *yaml.Node, data string, trace int) *yaml.Node {
	out := *n
	out.Value = strings.NewReplacer("{data}", data, "{n}", strconv.Itoa(trace)).Replace(n.Value)
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out.Content[i] = filled(c, data, trace)
	}
	return &out
}
