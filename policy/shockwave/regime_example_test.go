package shockwave_test

import (
	"fmt"
	"log"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/shockwave"
)

// A job of 100 epochs starts with batch size 32 and doubles it, up to 128. It
// has trained for 10 epochs when it doubles for the first time.
func ExamplePredictor() {
	sizes, err := shockwave.RegimeSequence(&job.BatchSchedule{Mode: job.GNS}, 32, 128, 0)
	if err != nil {
		log.Fatal(err)
	}
	p, err := shockwave.NewPredictor(shockwave.Restatement, 100, sizes)
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Observe(32, 10); err != nil {
		log.Fatal(err)
	}
	if err := p.Observe(64, 0); err != nil {
		log.Fatal(err)
	}
	for _, r := range p.Regimes() {
		fmt.Printf("batch size %d: %g epochs\n", r.BatchSize, r.Expected)
	}
	// Output:
	// batch size 32: 10 epochs
	// batch size 64: 45 epochs
	// batch size 128: 45 epochs
}
