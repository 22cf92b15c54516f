package experiments

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A Paper lists the tables and figures of a paper.
type Paper struct {
	Name    string        `yaml:"paper"` // folder of its experiments
	Title   string        `yaml:"title"`
	Figures []PaperFigure `yaml:"figures"`
}

// A PaperFigure is a table or figure of a paper, and what reproduces it. One of Run, Test and Why is set.
type PaperFigure struct {
	Figure  string   `yaml:"figure"`
	Section string   `yaml:"section"`
	Shows   string   `yaml:"shows"`
	Run     []string `yaml:"run"`  // names of experiments
	Test    string   `yaml:"test"` // package and name of tests
	Why     string   `yaml:"why"`  // limits of the reproduction
}

// Papers returns the papers with all their figures.
func Papers() ([]Paper, error) {
	data, err := library.ReadFile("papers.yaml")
	if err != nil {
		return nil, err
	}
	var all []Paper
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("papers.yaml: %w", err)
	}
	return all, nil
}

// Match returns the names of the experiments that match pattern. A pattern is a name, a paper such as "lyra" or
// "lyra/...", or in the syntax of path.Match, such as "sia/fig-*".
func Match(pattern string) ([]string, error) {
	folder := strings.TrimSuffix(pattern, "/...")
	var found []string
	for _, name := range Names() {
		matched, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if matched || path.Dir(name) == folder {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("experiment %q is not known, want one of %s", pattern, strings.Join(Names(), ", "))
	}
	return found, nil
}

const quickSeconds = 540

// Quick returns the names of the fastest experiments of the papers: as many as together took at most nine minutes of
// processor time in the stored runs.
func Quick() ([]string, error) {
	all, err := records()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(r *Record) bool { return strings.HasPrefix(r.Experiment, "oxgang/") })
	slices.SortStableFunc(all, func(a, b *Record) int { return cmp.Compare(a.seconds(), b.seconds()) })
	var names []string
	total := 0.0
	for _, r := range all {
		if total += r.seconds(); total > quickSeconds {
			break
		}
		names = append(names, r.Experiment)
	}
	slices.Sort(names)
	return names, nil
}

var records = sync.OnceValues(func() ([]*Record, error) {
	var all []*Record
	for _, name := range Names() {
		r, err := FindRecord(name)
		if err != nil {
			return nil, err
		}
		if r != nil {
			all = append(all, r)
		}
	}
	return all, nil
})

// Stored returns two table cells on the stored run of an experiment: how many figures are outside their bands, and the
// processor time, with "quick" if --quick runs it.
func Stored(name string) (outside, cpu string, err error) {
	rec, found, err := stored(name)
	if err != nil {
		return "", "", err
	}
	if rec == nil {
		return "", "not stored", nil
	}
	quick, err := Quick()
	cpu = rec.Time()
	if slices.Contains(quick, name) {
		cpu += ", quick"
	}
	checked, missed := count(found)
	return fmt.Sprintf("%d of %d", missed, checked), cpu, err
}

func stored(name string) (*Record, []Finding, error) {
	e, err := Find(name)
	if err != nil {
		return nil, nil, err
	}
	rec, err := FindRecord(name)
	if err != nil || rec == nil {
		return nil, nil, err
	}
	found, err := e.findings(rec)
	return rec, found, err
}
