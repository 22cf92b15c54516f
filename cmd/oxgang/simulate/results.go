package simulate

import (
	"errors"
	"fmt"
	"io"
	"os"

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
