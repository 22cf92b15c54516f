package generate

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

const driftWeek = 7 * 24 * time.Hour

// loads returns the GPUs that a workload of the public simulator's goodput takes in
// the mean of a span, if each of its jobs has so many GPUs of type t4 of one node:
// by application.
func loads(t *testing.T, all []workload.Arrival, gpus int, span time.Duration) map[string]float64 {
	t.Helper()
	c, by := profiles.AsPublished(profiles.Default()), map[string]float64{}
	alone := map[string]float64{} // seconds
	on := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "t4"}}
	for i := range all {
		a := all[i]
		if err := c.Complete(&a); err != nil {
			t.Fatal(err)
		}
		if alone[a.Application] == 0 { // jobs of an application differ in nothing that counts here
			alone[a.Application] = c[a.Application].Alone(&a.Spec, on)
		}
		by[a.Application] += float64(gpus) * alone[a.Application] / span.Seconds()
	}
	return by
}

// The month takes 60 to 100 GPUs: as docs/traces.md says.
func TestDriftingLoad(t *testing.T) {
	all := generate(t, DefaultOptions("drifting"))
	for gpus, want := range map[int]map[string]float64{
		1: {"cifar10": 19.4, "bert": 20.2, "deepspeech2": 25.2, "yolov3": 5.0},
		4: {"cifar10": 21.7, "bert": 20.9, "deepspeech2": 28.9, "yolov3": 6.7},
	} {
		got := loads(t, all, gpus, driftSpan)
		for name := range want {
			if math.Abs(got[name]/want[name]-1) > 0.01 {
				t.Errorf("%d GPUs each: %s takes %.2f GPUs, want %.1f", gpus, name, got[name], want[name])
			}
		}
		if sum := total(got); sum < 60 || sum > 100 {
			t.Errorf("%d GPUs each: %.1f GPUs in all, want 60 to 100", gpus, sum)
		}
	}
	for week, want := range []float64{48, 91, 101, 71, 85} {
		from, to := time.Duration(week)*driftWeek, min(time.Duration(week+1)*driftWeek, driftSpan)
		if got := total(loads(t, between(all, from, to), 4, to-from)); math.Abs(got-want) > 0.6 {
			t.Errorf("week %d: %.1f GPUs, want %.0f", week+1, got, want)
		}
	}
}

func total(loads map[string]float64) float64 {
	sum := 0.0
	for _, load := range loads {
		sum += load
	}
	return sum
}

// The rate follows the day, the weekend and the surge.
func TestDriftingRate(t *testing.T) {
	o := DefaultOptions("drifting")
	o.Jobs = 1_000_000
	hours := make([]float64, driftSpan/time.Hour)
	for _, a := range generate(t, o) {
		hours[a.At/time.Hour]++
	}
	sum := func(days ...int) (n float64) {
		for _, d := range days {
			for h := range 24 {
				n += hours[24*d+h]
			}
		}
		return n
	}
	for _, tc := range []struct {
		name           string
		got, want, off float64
	}{
		{"14:00 to 2:00", hours[14] / hours[2], 3, 0.15}, // of 600 jobs in an hour
		{"14:00 to 8:00", hours[14] / hours[8], 1.5, 0.15},
		{"Saturday and Sunday to Monday and Tuesday", sum(5, 6) / sum(0, 1), 0.6, 0.02},
		{"second week to first", sum(7, 8, 9, 10, 11, 12, 13) / sum(0, 1, 2, 3, 4, 5, 6), 1.6, 0.02},
		{"third week to second", sum(14, 15, 16, 17, 18, 19, 20) / sum(7, 8, 9, 10, 11, 12, 13), 1, 0.02},
		{"fourth week to first", sum(21, 22, 23, 24, 25, 26, 27) / sum(0, 1, 2, 3, 4, 5, 6), 1, 0.02},
	} {
		if math.Abs(tc.got/tc.want-1) > tc.off {
			t.Errorf("%s: %.3f, want %v", tc.name, tc.got, tc.want)
		}
	}
}

// The mix goes from one to the other, and begins anew in a second month.
func TestDriftingMix(t *testing.T) {
	o := DefaultOptions("drifting")
	o.Jobs, o.Span = 800_000, 2*driftSpan
	all := generate(t, o)
	for _, tc := range []struct {
		from  time.Duration
		parts map[string]float64
	}{
		{0, map[string]float64{"cifar10": 80, "bert": 8, "deepspeech2": 10, "yolov3": 2}},
		{driftSpan / 2, map[string]float64{"cifar10": 52.5, "bert": 22, "deepspeech2": 23, "yolov3": 2.5}},
		{driftSpan - 12*time.Hour, map[string]float64{"cifar10": 25, "bert": 36, "deepspeech2": 36, "yolov3": 3}},
		{driftSpan, map[string]float64{"cifar10": 80, "bert": 8, "deepspeech2": 10, "yolov3": 2}},
	} {
		some := traitsOf(between(all, tc.from, tc.from+12*time.Hour), int(2*driftSpan/time.Hour))
		for name, want := range tc.parts {
			if got := 100 * some.applications[name]; math.Abs(got-want) > 2 {
				t.Errorf("%v: %.1f %% %s, want %v", tc.from, got, name, want)
			}
		}
	}
}

func between(all []workload.Arrival, from, to time.Duration) []workload.Arrival {
	var some []workload.Arrival
	for _, a := range all {
		if a.At >= from && a.At < to {
			some = append(some, a)
		}
	}
	return some
}
