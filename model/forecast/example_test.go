package forecast_test

import (
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/forecast"
	"github.com/oxgang/oxgang/simulate/workload"
)

// After a week of five-minute values it is midnight. How many of 520 servers will
// the inference cluster need at most, but for one time in twenty?
func Example() {
	const day = 288
	week := workload.Diurnal(1, 7)
	m := forecast.Default(day)
	for _, busy := range week.Busy {
		m.Observe(busy)
	}
	f := m.Predict(day)
	for _, hour := range []int{1, 5, 9, 21} {
		i := hour * 12 // the interval from then on
		fmt.Printf("at %2d:00 %.2f ± %.2f of the GPUs: %g servers\n", hour, f.Mean[i], f.SD[i], math.Ceil(520*forecast.Share(f.Mean[i]+1.645*f.SD[i])))
	}
	// Output:
	// at  1:00 0.71 ± 0.03 of the GPUs: 389 servers
	// at  5:00 0.42 ± 0.03 of the GPUs: 247 servers
	// at  9:00 0.57 ± 0.03 of the GPUs: 325 servers
	// at 21:00 0.95 ± 0.04 of the GPUs: 520 servers
}
