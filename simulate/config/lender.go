package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Lender has the keys for the load of an inference cluster that lends nodes, and for forecasts of this load. sim.Lender
// configures when it lends.
type Lender struct {
	Load     string // file of its load curve; empty: generated
	Between  string // new trough and peak of the curve, as "0.42-0.95"; empty: unchanged
	Forecast string // one of Forecasts
}

// Methods that forecast the load of a lender.
const (
	Seasonal     = "seasonal"
	LastValue    = "last"
	DayBefore    = "naive"
	NoForecast   = "none"
	wantForecast = Seasonal + ", " + LastValue + ", " + DayBefore + " or " + NoForecast
)

// Forecasts returns the names of the methods that forecast a lender's load, the default first.
func Forecasts() []string { return []string{Seasonal, LastValue, DayBefore, NoForecast} }

// Validate returns an error that joins all errors in l.
func (l *Lender) Validate() error {
	_, _, err := l.Range()
	errs := []error{err}
	if l.Load == "-" {
		errs = append(errs, errors.New("lender.load -, want a file: standard input may be the trace's"))
	}
	if !slices.Contains(Forecasts(), l.Forecast) {
		errs = append(errs, fmt.Errorf("lender.forecast %q, want %s", l.Forecast, wantForecast))
	}
	return errors.Join(errs...)
}

// Range returns the lowest and highest value to which the load curve is scaled; 0 and 0 leave it unchanged.
func (l *Lender) Range() (low, high float64, err error) {
	if l.Between == "" {
		return 0, 0, nil
	}
	from, to, ok := strings.Cut(l.Between, "-")
	low, err1 := strconv.ParseFloat(from, 64)
	high, err2 := strconv.ParseFloat(to, 64)
	if !ok || errors.Join(err1, err2) != nil || !(0 <= low && low <= high && 0 < high && high <= 1) { // not a number fails too
		return 0, 0, fmt.Errorf("lender.between %q, want trough and peak as shares of the GPUs, 0 to 1, as 0.42-0.95", l.Between)
	}
	return low, high, nil
}
