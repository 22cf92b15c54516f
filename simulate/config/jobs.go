package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// Jobs has the keys that change the jobs of a trace, such as the share that is rigid. Jobs are chosen at random; a
// larger share includes all jobs of a smaller one.
type Jobs struct {
	Applications []string // keep only jobs of these applications; empty: all
	// Burstiness is the squared coefficient of variation of the times between jobs, which are then drawn again
	// (generate.Bursty); 0: unchanged.
	Burstiness    float64
	Rigid         float64 // share of jobs made rigid
	StrongScaling float64 // share of jobs made strong-scaling
	Static        float64 // share of jobs with a batch size schedule that keep their first batch size
	MaxGPUs       int     // maximum number of GPUs of an adaptive job; 0: no limit
	SameDurations bool    // jobs that wait for input last as long as on Synergy's servers
	Slowdown      bool    // divide the true goodput, as the public simulator does

	Fungible    float64 // share of jobs that may run on nodes on loan; or AsTraced
	Elastic     float64 // share of jobs with a duration and no application that are made elastic
	Checkpoints float64 // share of jobs with checkpoints; or AsTraced
	ScalingLoss float64 // workload.Arrival.ScalingLoss of elastic jobs; 0: from the trace
	WrongTimes  float64 // share of jobs with a wrong estimate of their duration
	WrongBy     float64 // largest relative error of this estimate
	WrongSize   float64 // standard deviation of the logarithm of a random factor on stated work, if the application knows the true work

	// Heterogeneous is the share of timed jobs that may run on GPUs of two types at once, or AsTraced.
	Heterogeneous, MixedSpeed float64
}

// AsTraced is the value of a share for which the trace itself marks the jobs.
const AsTraced = -1

func (j *Jobs) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("jobs: "+format, args...)) }
	if !(j.Rigid >= 0 && j.StrongScaling >= 0 && j.Rigid+j.StrongScaling <= 1) {
		bad("rigid %v and strong-scaling %v, want shares that add up to at most 1", j.Rigid, j.StrongScaling)
	}
	for _, s := range []struct {
		name  string
		share float64
	}{{"static", j.Static}, {"elastic", j.Elastic}, {"scaling-loss", j.ScalingLoss}, {"wrong-times", j.WrongTimes}} {
		if !(s.share >= 0 && s.share <= 1) {
			bad("%s %v, want a share of 0 to 1", s.name, s.share)
		}
	}
	for _, s := range []struct {
		name  string
		share float64
	}{{"fungible", j.Fungible}, {"checkpoints", j.Checkpoints}, {"heterogeneous", j.Heterogeneous}} {
		if !(s.share >= 0 && s.share <= 1 || s.share == AsTraced) {
			bad("%s %v, want a share of 0 to 1, or %d, as in the trace", s.name, s.share, AsTraced)
		}
	}
	if !(j.WrongBy >= 0 && j.WrongBy < 1) {
		bad("wrong-by %v, want at least 0 and less than 1", j.WrongBy)
	}
	if !(j.WrongSize >= 0 && j.WrongSize <= 10) {
		bad("wrong-size %v, want 0 to 10", j.WrongSize)
	}
	if !(j.MixedSpeed > 0 && j.MixedSpeed <= 1) {
		bad("mixed-speed %v, want more than 0 and at most 1", j.MixedSpeed)
	}
	if j.Burstiness != 0 {
		if err := generate.CheckBurstiness(j.Burstiness); err != nil {
			bad("%w; or 0, as in the trace", err)
		}
	}
	return errors.Join(errs...)
}

// Lender has the keys for the load of an inference cluster that lends nodes. sim.Lender configures when it lends.
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

// forecasts returns the names of the methods that forecast a lender's load, the default first.
func forecasts() []string { return []string{Seasonal, LastValue, DayBefore, NoForecast} }

func (l *Lender) validate() error {
	_, _, err := l.Range()
	errs := []error{err}
	if l.Load == "-" {
		errs = append(errs, errors.New("lender.load -, want a file: standard input may be the trace's"))
	}
	if !slices.Contains(forecasts(), l.Forecast) {
		errs = append(errs, fmt.Errorf("lender.forecast %q, want %s", l.Forecast, wantForecast))
	}
	return errors.Join(errs...)
}

// Range returns the lowest and highest value to which the load curve is scaled; 0 and 0: not scaled.
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

type levels struct{ rack, nvlink int }

func parseLevels(text string) (rest string, l levels, err error) {
	for {
		at := strings.LastIndexByte(text, '/')
		kind, number, numbered := strings.Cut(text[at+1:], "@")
		if at < 0 || kind != "rack" && kind != "nvlink" {
			return text, l, l.validate()
		}
		n, err := strconv.Atoi(number)
		if !numbered || err != nil || n < 1 || n > maxNodes {
			return "", l, fmt.Errorf("%q, want the number of neighbouring nodes that share one, 1 to %d, as %s@12", text[at+1:], maxNodes, kind)
		}
		if text = text[:at]; kind == "rack" {
			l.rack = n
		} else {
			l.nvlink = n
		}
	}
}

func (l levels) validate() error {
	if l.rack > 0 && l.nvlink > 0 && l.rack%l.nvlink != 0 {
		return fmt.Errorf("rack@%d and nvlink@%d, want whole NVLink domains in a rack, as rack@%d", l.rack, l.nvlink, (l.rack/l.nvlink+1)*l.nvlink)
	}
	return nil
}

func (l levels) apply(n *cluster.Node, part string, i int) {
	if l.rack > 0 {
		n.Rack = fmt.Sprintf("%srack%d", part, i/l.rack)
	}
	if l.nvlink > 0 {
		n.NVLinkDomain = fmt.Sprintf("%snvlink%d", part, i/l.nvlink)
	}
}
