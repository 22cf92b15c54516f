package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Lender says how busy the inference cluster is that owns the nodes on loan, and how it
// looks ahead. What it does about it is sim.Lender's.
type Lender struct {
	Load     string // a file of its load curve; empty: one is made up
	Between  string // "0.42-0.95": trough and peak of the curve are moved there; empty: as it is
	Forecast string // one of Forecasts
}

// The ways in which the owner of nodes on loan looks ahead.
const (
	Seasonal     = "seasonal"
	LastValue    = "last"
	DayBefore    = "naive"
	NoForecast   = "none"
	wantForecast = Seasonal + ", " + LastValue + ", " + DayBefore + " or " + NoForecast
)

// Forecasts returns the ways in which the owner of nodes on loan looks ahead, the default
// first.
func Forecasts() []string { return []string{Seasonal, LastValue, DayBefore, NoForecast} }

// Validate returns an error that joins all that is wrong with l.
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

// Range returns between which shares the load curve is to be; 0 and 0: as it is.
func (l *Lender) Range() (low, high float64, err error) {
	if l.Between == "" {
		return 0, 0, nil
	}
	from, to, ok := strings.Cut(l.Between, "-")
	low, err1 := strconv.ParseFloat(from, 64)
	high, err2 := strconv.ParseFloat(to, 64)
	if !ok || errors.Join(err1, err2) != nil || !(0 <= low && low <= high && 0 < high && high <= 1) { // not a number fails too
		return 0, 0, fmt.Errorf("lender.between %q, want shares of the GPUs in the trough and at the peak, 0 to 1, as 0.42-0.95", l.Between)
	}
	return low, high, nil
}
