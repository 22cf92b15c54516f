package generate

import (
	"math"
	"time"
)

// The drifting scenario is our own: a month in which the first days predict little. It begins at
// midnight on a Monday.
const (
	driftSpan = 30 * 24 * time.Hour
	driftJobs = 14_400 // 20 jobs/h on average, like newTrace
	// The jobs need 70 t4 GPUs if each has one, and 78 if each has a node of four, with the goodput of
	// the public simulator.

	driftWave    = 0.5 // relative amplitude of the rate: highest at 14:00, lowest at 2:00
	driftNoon    = 8   // hour at which the rate rises through the mean
	driftWeekend = 0.6 // factor on the rate of working days
	driftSurge   = 1.6 // factor on the rate in the second and third week
)

// driftParts are the percentages of applications at the beginning and at the end, linear in between. newTrace has
// 52, 21, 22 and 4.
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

func only(mix []template, application string) []template {
	var some []template
	for _, t := range mix {
		if t.application == application {
			some = append(some, t)
		}
	}
	return some
}
