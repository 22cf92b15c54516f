package workload

import (
	"testing"
)

func BenchmarkStep(b *testing.B) {
	speed := measured(b)["cifar10"].Speed
	for _, bench := range []struct {
		name  string
		shape []int
	}{
		{"shape=4", []int{4}},
		{"shape=4-2-4-3", []int{4, 2, 4, 3}},
		{"shape=4x16", []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}},
		{"shape=4-2-4-3-1-2 estimated", []int{4, 2, 4, 3, 1, 2}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, ok := speed.Step("t4", bench.shape, 100); !ok {
					b.Fatal("does not run")
				}
			}
		})
	}
}

func BenchmarkReadProfiles(b *testing.B) {
	readShared(b)
	for b.Loop() {
		readShared(b)
	}
}
