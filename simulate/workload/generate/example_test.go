package generate_test

import (
	"fmt"

	"github.com/oxgang/oxgang/simulate/workload/generate"
)

func ExampleArrivals() {
	o := generate.DefaultOptions("philly-like")
	o.Jobs = 3
	jobs, err := generate.Arrivals(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range jobs {
		fmt.Println(a.At, a.Spec.ID, a.Spec.GPUs, a.Spec.BatchSize)
	}
	// Output:
	// 1h23m51.402s cifar10-0 6 2048
	// 1h42m11.108s cifar10-1 12 4096
	// 5h26m31.576s cifar10-2 16 4096
}
