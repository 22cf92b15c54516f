package run

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/simulate/config"
)

// Jobs that take turns, and take longer to restart than a round is, come to an end under every
// objective of Gavel: with the rounds of a minute that all policies have by default they did not.
func TestJobsThatRestartLongerThanARoundEnd(t *testing.T) {
	restart := 4 * time.Minute
	for _, policy := range []string{"gavel", "mst", "ftf", "ossp", "allox", "gandivafair"} {
		c := config.Default()
		c.Horizon, c.Sim.Restart = 48*time.Hour, &restart
		in := loaded(t, c, `{"id":"a","duration_s":3600,"gpus":8}`, `{"id":"b","duration_s":3600,"gpus":8}`, `{"id":"c","duration_s":3600,"gpus":8}`)
		run, err := Simulate(t.Context(), c, in, policy)
		if err != nil {
			t.Fatal(err)
		}
		if run.Unfinished {
			t.Errorf("%s: jobs of three hours in all have not ended after two days", policy)
		}
	}
}
