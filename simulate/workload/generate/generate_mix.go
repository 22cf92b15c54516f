package generate

import (
	"math"
	"time"
)

type template struct {
	application        string
	gpus, batch, count int
}

// The mixes count the jobs of the shared Sia traces. Applications stand for categories by GPU time:
// small (below 1 h) is cifar10, medium (to 10 h) is bert and deepspeech2, large (to 100 h) is yolov3,
// extra large is imagenet. Percentages of the categories, and mean GPUs:
//
//	Philly    79.1 14.4  4.2  2.4  10.09  (960 jobs)
//	Helios    82.9 10.1  4.4  2.7   9.16  (1120 jobs)
//	newTrace  52.0 43.5  3.7  0.8   9.28  (6720 jobs)
//
// Source: Sia §3.4.1, Table 3.2.
var mixes = [...]struct {
	template
	counts [3]int // Philly, Helios, newTrace
}{
	{template{"cifar10", 4, 2048, 0}, [...]int{0, 106, 341}},
	{template{"cifar10", 6, 2048, 0}, [...]int{191, 199, 727}},
	{template{"cifar10", 8, 2048, 0}, [...]int{189, 109, 471}},
	{template{"cifar10", 8, 4096, 0}, [...]int{0, 71, 303}},
	{template{"cifar10", 10, 4096, 0}, [...]int{0, 132, 375}},
	{template{"cifar10", 12, 4096, 0}, [...]int{203, 195, 845}},
	{template{"cifar10", 16, 4096, 0}, [...]int{176, 116, 432}},
	{template{"bert", 6, 384, 0}, [...]int{12, 8, 334}},
	{template{"bert", 8, 384, 0}, [...]int{13, 12, 360}},
	{template{"bert", 12, 384, 0}, [...]int{14, 11, 353}},
	{template{"bert", 16, 384, 0}, [...]int{18, 13, 370}},
	{template{"deepspeech2", 6, 320, 0}, [...]int{27, 16, 516}},
	{template{"deepspeech2", 8, 320, 0}, [...]int{23, 28, 505}},
	{template{"deepspeech2", 12, 640, 0}, [...]int{31, 25, 483}},
	{template{"yolov3", 4, 64, 0}, [...]int{40, 49, 250}},
	{template{"imagenet", 10, 1600, 0}, [...]int{13, 3, 16}},
	{template{"imagenet", 12, 3200, 0}, [...]int{4, 10, 21}},
	{template{"imagenet", 14, 3200, 0}, [...]int{6, 17, 18}},
}

var phillyMix, heliosMix, newTraceMix = mixOf(0), mixOf(1), mixOf(2)

func mixOf(trace int) []template {
	mix := make([]template, len(mixes))
	for i, m := range mixes {
		mix[i] = m.template
		mix[i].count = m.counts[trace]
	}
	return mix
}

func draw(r source, mix []template) template {
	total := 0
	for _, t := range mix {
		total += t.count
	}
	n := r.IntN(total)
	for _, t := range mix {
		if n -= t.count; n < 0 {
			return t
		}
	}
	panic("workload: mix without jobs")
}

// fixedSizes are the shares of GPU counts in the shared synthetic Lyra traces.
var fixedSizes = []struct {
	gpus  int
	share float64
}{{1, .54}, {2, .12}, {4, .12}, {8, .175}, {16, .03}, {32, .012}, {64, .003}}

func fixedSize(r source, most int) int {
	total := 0.0
	for _, s := range fixedSizes {
		if s.gpus <= most {
			total += s.share
		}
	}
	u := r.Float64() * total
	for _, s := range fixedSizes {
		if u -= s.share; u < 0 && s.gpus <= most {
			return s.gpus
		}
	}
	return 1
}

// fixedTimes are quantiles of running times of the shared synthetic Lyra traces, with linear logarithm in
// between. They fit the percentiles and mean of Lyra's baseline. Source: Lyra §7.2, Table 5.
var fixedTimes = []struct{ share, seconds float64 }{
	{0, 30}, {.5, 740}, {.74, 3000}, {.75, 27300}, {.94, 30000}, {.95, 74600}, {.985, 80000}, {.99, 362000}, {1, 380000},
}

func fixedSeconds(u float64) float64 {
	for i := 1; i < len(fixedTimes); i++ {
		if a, b := fixedTimes[i-1], fixedTimes[i]; u <= b.share {
			w := (u - a.share) / (b.share - a.share)
			return math.Exp((1-w)*math.Log(a.seconds) + w*math.Log(b.seconds))
		}
	}
	return fixedTimes[len(fixedTimes)-1].seconds
}

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
