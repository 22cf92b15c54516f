package experiments

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

// A Finding is one of our figures, compared with the published one.
type Finding struct {
	Experiment string  `json:"experiment"`
	Row        string  `json:"row"`
	Metric     string  `json:"metric"`
	Ours       float64 `json:"ours"`
	Published  float64 `json:"published"`
	Band       string  `json:"band"`
	Verdict    Verdict `json:"verdict"`
	Why        string  `json:"why,omitempty"`   // if outside: the cause
	Shown      string  `json:"shown,omitempty"` // if outside: what shows the cause, see Check
}

// A Verdict states whether a figure is within its range.
type Verdict string

// The verdicts.
const (
	Within  Verdict = "ok"
	Outside Verdict = "OUTSIDE"
	Short   Verdict = "SHORT" // misses our target
	Shown   Verdict = "-"     // no band
)

// Options state how to run an experiment.
type Options struct {
	Files  run.Files
	Data   string                                  // folder of the shared data
	Parts  Parts                                   // folder for finished simulations; "": none
	Report func(e *Experiment, done, of int) error // called at the start and after each simulation; may be nil
}

// Reproduce runs an experiment and compares our figures with the published ones. Simulations use all cores. Case
// studies use one, because they measure processor time.
func (e *Experiment) Reproduce(ctx context.Context, o Options) ([]Finding, error) {
	all, err := e.simulations(o.Data)
	if err != nil {
		return nil, err
	}
	o.Files = withLibrary(o.Files)
	if o.Report == nil {
		o.Report = func(*Experiment, int, int) error { return nil }
	}
	if err := o.Report(e, 0, len(all)); err != nil {
		return nil, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.parallel())
	var mu sync.Mutex
	done := 0
	for i := range all {
		g.Go(func() error {
			err := e.simulate(ctx, &all[i], o)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
				err = o.Report(e, done, len(all))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	results := make(map[string][]measured)
	for i := range all {
		results[all[i].plan.Name] = append(results[all[i].plan.Name], all[i].result)
	}
	return e.compare(func(c *Check, m metric) float64 { return c.figure(m, results) }), nil
}

func (e *Experiment) parallel() int {
	if slices.ContainsFunc(e.Runs, func(p Plan) bool { return p.Study != nil }) {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

type simulation struct {
	plan   *Plan
	config *config.Config
	number int // of the plan
	result measured
}

func (e *Experiment) simulations(data string) ([]simulation, error) {
	var all []simulation
	for i := range e.Runs {
		p := &e.Runs[i]
		if p.Study != nil {
			all = append(all, simulation{plan: p})
			continue
		}
		configs, err := e.configs(p, data)
		if err != nil {
			return nil, err
		}
		for n, c := range configs {
			all = append(all, simulation{plan: p, config: c, number: n})
		}
	}
	return all, nil
}

func (e *Experiment) simulate(ctx context.Context, s *simulation, o Options) error {
	key := ""
	if o.Parts != "" {
		var err error
		if key, err = e.key(s.plan, o.Data, s.number); err != nil {
			return err
		}
		if o.Parts.load(key, &s.result) {
			return nil
		}
	}
	var err error
	if study := s.plan.Study; study != nil {
		s.result, err = study.run(ctx, o)
	} else {
		s.result, err = reproduceOne(ctx, s.config, o.Files, s.plan.Policy)
	}
	if err != nil || o.Parts == "" {
		return err
	}
	return o.Parts.store(key, &s.result)
}

func reproduceOne(ctx context.Context, c *config.Config, files run.Files, policy string) (measured, error) {
	in, err := run.Load(c, files)
	if err != nil {
		return measured{}, err
	}
	r, err := run.Simulate(ctx, c, in, policy)
	if err != nil {
		return measured{}, err
	}
	return measure(r, in), ctx.Err()
}

func (e *Experiment) compare(ours func(*Check, metric) float64) []Finding {
	var all []Finding
	for _, c := range e.Checks {
		for _, f := range c.Published {
			all = append(all, e.finding(&c, f, ours, Outside))
		}
		for _, f := range c.Wanted {
			all = append(all, e.finding(&c, f, ours, Short))
		}
	}
	return all
}

func (e *Experiment) finding(c *Check, f Figure, figure func(*Check, metric) float64, outside Verdict) Finding {
	m, _ := findMetric(f.Metric) // checked by Parse
	ours := figure(c, m)
	found := Finding{Experiment: e.Name, Row: c.row(), Metric: f.Metric, Ours: ours, Published: f.Band.Published, Band: f.Band.String()}
	found.Verdict = judge(f.Band, ours, outside)
	if found.Verdict == Outside {
		found.Why, found.Shown = c.Why, c.Shown
	}
	return found
}

func (c *Check) figure(m metric, results map[string][]measured) float64 {
	switch {
	case c.Along != "":
		along, _ := findMetric(c.Along)
		return gain(c.Run.curve(along, m, results), c.Over.curve(along, m, results), c.Least)
	case len(c.Over) > 0:
		return c.Run.mean(m, results) / c.Over.mean(m, results)
	}
	return c.Run.mean(m, results)
}

func (g Group) mean(m metric, results map[string][]measured) float64 {
	sum := 0.0
	for _, name := range g {
		sum += m.of(results[name])
	}
	return sum / float64(len(g))
}

func (c *Check) row() string {
	switch {
	case c.Name != "":
		return c.Name
	case c.Along != "":
		return c.Over.String() + " / " + c.Run.String() + " at equal " + c.Along
	case len(c.Over) > 0:
		return c.Run.String() + " / " + c.Over.String()
	}
	return c.Run.String()
}

func judge(b band, ours float64, outside Verdict) Verdict {
	switch {
	case !b.Checked():
		return Shown
	case b.Holds(ours):
		return Within
	}
	return outside
}
