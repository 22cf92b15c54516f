package experiments

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

// A Finding is one of our figures and the published one.
type Finding struct {
	Experiment string  `json:"experiment"`
	Row        string  `json:"row"`
	Metric     string  `json:"metric"`
	Ours       float64 `json:"ours"`
	Published  float64 `json:"published"`
	Band       string  `json:"band"`
	Verdict    Verdict `json:"verdict"`
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

// Reproduce runs an experiment on all cores and compares our figures with the published ones. data is the folder of
// the shared data.
func (e *Experiment) Reproduce(ctx context.Context, files run.Files, data string) ([]Finding, error) {
	configs := make([][]*config.Config, len(e.Runs))
	for i := range e.Runs {
		var err error
		if configs[i], err = e.Configs(&e.Runs[i], data); err != nil {
			return nil, err
		}
	}
	files = withLibrary(files)
	results := make(map[string][]measured)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range e.Runs {
		runs := make([]measured, len(configs[i]))
		results[p.Name] = runs
		for k, c := range configs[i] {
			g.Go(func() (err error) {
				runs[k], err = reproduceOne(ctx, c, files, p.Policy)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return e.compare(results), nil
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

func (e *Experiment) compare(results map[string][]measured) []Finding {
	var all []Finding
	for _, c := range e.Checks {
		for _, f := range c.Published {
			all = append(all, e.finding(&c, f, results, Outside))
		}
		for _, f := range c.Wanted {
			all = append(all, e.finding(&c, f, results, Short))
		}
	}
	return all
}

func (e *Experiment) finding(c *Check, f Figure, results map[string][]measured, outside Verdict) Finding {
	m, _ := findMetric(f.Metric) // checked by Parse
	ours := c.figure(m, results)
	return Finding{e.Name, c.row(), f.Metric, ours, f.Band.Published, f.Band.String(), judge(f.Band, ours, outside)}
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

func judge(b Band, ours float64, outside Verdict) Verdict {
	switch {
	case !b.Checked():
		return Shown
	case b.Holds(ours):
		return Within
	}
	return outside
}
