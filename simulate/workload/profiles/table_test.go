package profiles

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
)

// TestEstimateIsNearMeasurements: where a measurement is taken away, its estimate is
// near it. The bound is loose: step times of equally many GPUs differ by a
// third between placements.
func TestEstimateIsNearMeasurements(t *testing.T) {
	for _, name := range []string{"bert", "cifar10", "deepspeech2", "imagenet", "yolov3"} {
		p := measured(t)[name].Speed.(table).find("t4")
		sum, n := 0.0, 0
		for i := range p.spread {
			m := p.spread[i]
			rest := &profile{gpuType: "t4", replicaGPUs: 1}
			for j := range p.spread {
				if o := &p.spread[j]; o.nodes != m.nodes || o.replicas != m.replicas {
					rest.spread = append(rest.spread, *o)
				}
			}
			if m.replicas == 1 {
				continue
			}
			rest.index()
			for _, pt := range m.series {
				if step, _, ok := rest.estimate(m.nodes, m.replicas, pt.local); ok {
					sum, n = sum+math.Abs(step-pt.step)/pt.step, n+1
				}
			}
		}
		t.Logf("%s: mean error %.1f %%", name, 100*sum/float64(n))
		if !(sum/float64(n) < 0.2) {
			t.Errorf("%s: estimates are off by %.0f %% on average, want less than 20 %%", name, 100*sum/float64(n))
		}
	}
}

// TestEstimates: shapes that nobody measured.
func TestEstimates(t *testing.T) {
	c := measured(t)
	step := func(name string, g cluster.GPUType, local int, shape ...int) float64 {
		s, _, ok := c[name].Speed.Step(g, shape, local)
		if !ok {
			t.Fatalf("%s does not run on %s %v", name, g, shape)
		}
		return s
	}
	// Trap 14: placements missing in the profiles lie between their neighbours.
	near := step("cifar10", "rtx", 64, 7, 7)
	if got := step("cifar10", "rtx", 64, 7, 8); math.Abs(got-near) > 0.2*near {
		t.Errorf("cifar10 on rtx (7, 8): %g s, want near the %g s of (7, 7)", got, near)
	}
	if one, two := step("bert", "quad", 8, 4), step("bert", "quad", 8, 4, 4); two <= one {
		t.Errorf("bert on two quad nodes takes %g s, want more than the %g s on one", two, one)
	}
	if small, big := step("bert", "t4", 8, 4, 4, 4, 4, 4, 4), step("bert", "t4", 8, make20(4)...); big < small {
		t.Errorf("bert on 20 t4 nodes takes %g s, want at least the %g s on 6", big, small)
	}
}

func make20(gpus int) []int {
	shape := make([]int, 20)
	for i := range shape {
		shape[i] = gpus
	}
	return shape
}

func TestFitLine(t *testing.T) {
	at := func(replicas int, sync float64) measurement {
		return measurement{nodes: 2, replicas: replicas, series: series{{local: 1, step: 9, sync: sync}}}
	}
	for _, c := range []struct {
		name string
		in   []measurement
		want line
	}{
		{"none", []measurement{{nodes: 1, replicas: 2, series: series{{1, 9, 5}}}}, line{}},
		{"one", []measurement{at(4, 3)}, line{a: 3}},
		{"exact", []measurement{at(2, 3), at(4, 4), at(8, 6)}, line{a: 2, b: 0.5}},
		{"falling", []measurement{at(2, 3), at(4, 1)}, line{a: 2}},
		{"steep", []measurement{at(2, 1), at(4, 5)}, line{b: 1}},
	} {
		got := fitLine(c.in, 1)
		if math.Abs(got.a-c.want.a) > 1e-12 || math.Abs(got.b-c.want.b) > 1e-12 {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	eachCatalog(t, func(t *testing.T, c workload.Catalog) {
		speed := c["cifar10"].Speed
		for _, shape := range [][]int{{4}, {4, 2, 4, 3}, {4, 2, 4, 3, 1, 2}} {
			n := testing.AllocsPerRun(10, func() {
				speed.LocalRange("t4", shape)
				speed.Step("t4", shape, 100)
			})
			if n != 0 {
				t.Errorf("%v: %g allocations, want none", shape, n)
			}
		}
	})
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name    string
		catalog func() workload.Catalog
		shape   []int
	}{
		{"measured/shape=4", func() workload.Catalog { return measured(b) }, []int{4}},
		{"measured/shape=4-2-4-3", func() workload.Catalog { return measured(b) }, []int{4, 2, 4, 3}},
		{"measured/shape=4x16", func() workload.Catalog { return measured(b) }, []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}},
		{"estimated/shape=4-2-4-3-1-2", func() workload.Catalog { return measured(b) }, []int{4, 2, 4, 3, 1, 2}},
		{"embedded/shape=4-4", Default, []int{4, 4}},
	} {
		b.Run(c.name, func(b *testing.B) {
			speed := c.catalog()["cifar10"].Speed
			b.ReportAllocs()
			for b.Loop() {
				if _, _, ok := speed.Step("t4", c.shape, 100); !ok {
					b.Fatal("does not run")
				}
			}
		})
	}
}

func BenchmarkReadProfiles(b *testing.B) {
	for b.Loop() {
		readShared(b)
	}
}
