package generate

import "math"

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
var (
	phillyMix = []template{
		{"cifar10", 6, 2048, 191},
		{"cifar10", 8, 2048, 189},
		{"cifar10", 12, 4096, 203},
		{"cifar10", 16, 4096, 176},
		{"bert", 6, 384, 12},
		{"bert", 8, 384, 13},
		{"bert", 12, 384, 14},
		{"bert", 16, 384, 18},
		{"deepspeech2", 6, 320, 27},
		{"deepspeech2", 8, 320, 23},
		{"deepspeech2", 12, 640, 31},
		{"yolov3", 4, 64, 40},
		{"imagenet", 10, 1600, 13},
		{"imagenet", 12, 3200, 4},
		{"imagenet", 14, 3200, 6},
	}
	heliosMix = []template{
		{"cifar10", 4, 2048, 106},
		{"cifar10", 6, 2048, 199},
		{"cifar10", 8, 2048, 109},
		{"cifar10", 8, 4096, 71},
		{"cifar10", 10, 4096, 132},
		{"cifar10", 12, 4096, 195},
		{"cifar10", 16, 4096, 116},
		{"bert", 6, 384, 8},
		{"bert", 8, 384, 12},
		{"bert", 12, 384, 11},
		{"bert", 16, 384, 13},
		{"deepspeech2", 6, 320, 16},
		{"deepspeech2", 8, 320, 28},
		{"deepspeech2", 12, 640, 25},
		{"yolov3", 4, 64, 49},
		{"imagenet", 10, 1600, 3},
		{"imagenet", 12, 3200, 10},
		{"imagenet", 14, 3200, 17},
	}
	newTraceMix = []template{
		{"cifar10", 4, 2048, 341},
		{"cifar10", 6, 2048, 727},
		{"cifar10", 8, 2048, 471},
		{"cifar10", 8, 4096, 303},
		{"cifar10", 10, 4096, 375},
		{"cifar10", 12, 4096, 845},
		{"cifar10", 16, 4096, 432},
		{"bert", 6, 384, 334},
		{"bert", 8, 384, 360},
		{"bert", 12, 384, 353},
		{"bert", 16, 384, 370},
		{"deepspeech2", 6, 320, 516},
		{"deepspeech2", 8, 320, 505},
		{"deepspeech2", 12, 640, 483},
		{"yolov3", 4, 64, 250},
		{"imagenet", 10, 1600, 16},
		{"imagenet", 12, 3200, 21},
		{"imagenet", 14, 3200, 18},
	}
)

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
