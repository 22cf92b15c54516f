package simulate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/report"
)

type output struct {
	journal io.WriteCloser
	tables  *report.Results
}

func (s *simulation) output(t *task) (o *output, err error) {
	o = new(output)
	if s.stage == nil {
		return o, nil
	}
	if !t.aside {
		if o.journal, err = s.stage.Create(fileName(t) + ".oxj"); err != nil {
			return o, err
		}
	}
	if s.tables == "" {
		return o, nil
	}
	create := func(name string) (io.WriteCloser, error) { return s.stage.Create(fileName(t) + "." + name) }
	of := report.RunName{Run: fileName(t), Policy: t.policy, Seed: t.config.Sim.Seed}
	o.tables, err = report.NewResults(create, of, report.TableFormat(s.tables))
	return o, err
}

func (o *output) stream() metrics.Stream {
	if o.tables == nil {
		return metrics.Stream{}
	}
	return o.tables.Stream()
}

func (o *output) close() error {
	var errs []error
	if o.journal != nil {
		if err := o.journal.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if o.tables != nil {
		errs = append(errs, o.tables.Close())
		o.tables = nil
	}
	return errors.Join(errs...)
}

func (s *simulation) checkTables() error {
	if s.tables == "" {
		return nil
	}
	if s.out == "" {
		return cli.Misused("--results %s needs --out", s.tables)
	}
	if _, err := report.ParseTableFormat(s.tables); err != nil {
		return cli.Usage(fmt.Errorf("results: %w", err))
	}
	return nil
}

func (t *task) why() string {
	return strings.TrimPrefix(t.failed.Error(), t.policy+": ")
}

func failures(tasks []*task) error {
	var order []string
	names := make(map[string][]string)
	for _, t := range tasks {
		if t.failed == nil {
			continue
		}
		why := t.why()
		if !slices.Contains(order, why) {
			order = append(order, why)
		}
		if t.aside && slices.Contains(names[why], t.policy) {
			continue // as its first seed
		}
		names[why] = append(names[why], t.name)
	}
	var all []error
	for _, why := range order {
		all = append(all, errors.New(strings.Join(names[why], ", ")+": "+why))
	}
	return errors.Join(all...)
}

const compared = 3

func (s *simulation) chooseSeeds() {
	switch {
	case s.each:
	case s.config.Trace == "" && several(s.config.Policies):
		s.seeds = compared
	default:
		s.seeds = 1
	}
}

func several(policies []string) bool {
	return slices.ContainsFunc(policies, func(p string) bool { return p != policies[0] })
}

func (t *task) judge() {
	if t.run == nil {
		return
	}
	t.trial = report.Trial(t.policy, t.config.Sim.Seed, t.run.Result)
	t.trial.Ended = t.trial.Ended && !t.run.Unfinished
	if t.aside {
		t.run.Result = nil
	}
}

func (s *simulation) fidelity(runs []report.Run, tasks []*task) *metrics.Trust {
	if s.past.History == nil {
		return nil
	}
	var t *metrics.Trust
	if i := slices.IndexFunc(tasks, func(t *task) bool { return t.policy == s.past.baseline && t.run != nil }); i >= 0 {
		t = s.past.Judge(runs[i].Result, tasks[i].Inputs, s.config.Scheduler.Round.Seconds(), s.past.Causes(s.config))
	} else {
		t = metrics.Judge(metrics.Figures{}, metrics.Figures{}, 0, 0, 0, []string{s.past.baseline + " was not simulated"})
	}
	for i := range runs {
		if runs[i].Trust = t; !t.Trusted && runs[i].Result != nil {
			runs[i].Name += metrics.Stamp
		}
	}
	return t
}

func distrust(runs []report.Run, t *metrics.Trust) {
	if t != nil && !t.Trusted && len(runs) > 0 && runs[0].Verdict != nil {
		runs[0].Verdict.Distrust()
	}
}
