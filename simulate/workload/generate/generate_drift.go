package generate

import (
	"math"
	"time"
)

// The drifting scenario is ours: a month of which what was learned in its first days
// tells little. It begins on a Monday, at midnight.
const (
	driftSpan = 30 * 24 * time.Hour
	driftJobs = 14_400 // 20 jobs/h in the mean, as newTrace has
	// What comes needs 70 GPUs of type t4 if each job has one, and 78 if each has a
	// node of four, with the goodput of the public simulator.

	driftWave    = 0.5 // the rate at 14:00 is this much above the mean, at 2:00 below it
	driftNoon    = 8   // hour at which the wave goes up through the mean
	driftWeekend = 0.6 // times the rate of working days
	driftSurge   = 1.6 // times the rate, in the second and the third week
)

// driftParts are the jobs of each application in a hundred, at the begin and at the
// end; between them they change evenly. GPUs and batch sizes are those of newTrace,
// whose own parts are 52, 21, 22 and 4.
var driftParts = []driftPart{
	{"cifar10", 80, 25},
	{"bert", 8, 36},
	{"deepspeech2", 10, 36},
	{"yolov3", 2, 3},
}

type driftPart struct {
	application string
	first, last float64
}

// driftPace is the hourly rates of the month, relative to those of a working day
// without surge.
func driftPace() pace {
	p := pace{step: time.Hour, rates: make([]float64, driftSpan/time.Hour)}
	for h := range p.rates {
		day := h / 24
		p.rates[h] = 1 + driftWave*math.Sin(2*math.Pi*float64(h-driftNoon)/24)
		if day%7 >= 5 {
			p.rates[h] *= driftWeekend
		}
		if week := day / 7; week == 1 || week == 2 {
			p.rates[h] *= driftSurge
		}
	}
	return p
}

// drawDrift returns a template of the mix of a time; a longer span repeats the month,
// as its pace does.
func drawDrift(r source, mix []template, at time.Duration) template {
	month := float64(at%driftSpan) / float64(driftSpan)
	u, i := 100*r.Float64(), 0
	for ; i < len(driftParts)-1; i++ {
		p := driftParts[i]
		if u -= p.first + (p.last-p.first)*month; u < 0 {
			break
		}
	}
	return draw(r, only(mix, driftParts[i].application))
}

// only returns the templates of an application.
func only(mix []template, application string) []template {
	var some []template
	for _, t := range mix {
		if t.application == application {
			some = append(some, t)
		}
	}
	return some
}
