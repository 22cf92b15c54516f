package run

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/forecast"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

const day = 24 * time.Hour

// readBusy reads or generates the load of the owner of loaned nodes. Naming a curve without such nodes is an
// error.
func (in *Inputs) readBusy(c *config.Config, files Files) error {
	file := c.Lender.Load
	if len(in.Cluster.Loans()) == 0 {
		if file != "" {
			return fmt.Errorf("lender.load %s: no nodes on loan in the cluster, want some that end in /loan", file)
		}
		return nil
	}
	low, high, err := c.Lender.Range()
	if err != nil {
		return err
	}
	if in.busy, err = in.curve(c, files); err != nil {
		return err
	}
	if high > 0 {
		in.busy = in.busy.Between(low, high)
	}
	return in.busy.Validate()
}

// leastDays is the minimum length of a generated curve, as in Lyra's trace (§7.1).
const leastDays = 15

func (in *Inputs) curve(c *config.Config, files Files) (*workload.Load, error) {
	file := c.Lender.Load
	if file == "" {
		days := leastDays
		if n := len(in.Arrivals); n > 0 {
			days = max(days, int(in.Arrivals[n-1].At/day)+1)
		}
		return workload.Diurnal(c.Sim.Seed, days), nil
	}
	f, err := files.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse.ReadLoad(f, file)
}

func (in *Inputs) lender(c *config.Config, o *sim.Lender) {
	if in.busy == nil {
		return
	}
	o.Busy = in.busy.At
	perDay := max(1, int(day/o.Interval))
	if model := forecasts[c.Lender.Forecast]; model != nil {
		o.Forecast = func() sim.Forecaster { return forecaster{model(perDay)} }
	}
}

var forecasts = map[string]func(perDay int) forecast.Model{
	config.Seasonal:  func(perDay int) forecast.Model { return forecast.NewSeasonal(perDay) },
	config.LastValue: func(perDay int) forecast.Model { return forecast.NewLast(perDay) },
	config.DayBefore: func(perDay int) forecast.Model { return forecast.NewSeasonalNaive(perDay) },
}

type forecaster struct{ forecast.Model }

func (f forecaster) Predict(ahead int) (mean, sd []float64) {
	p := f.Model.Predict(ahead)
	return p.Mean, p.SD
}
