package pollux_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy/pollux"
)

// autoscaler returns an autoscaler with some of the defaults changed.
func autoscaler(t testing.TB, change func(*pollux.AutoscaleOptions)) *pollux.Autoscaler {
	t.Helper()
	o := pollux.DefaultAutoscaleOptions()
	if change != nil {
		change(&o)
	}
	a, err := pollux.NewAutoscaler(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
