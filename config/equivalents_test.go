package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/cluster"
)

func TestEquivalents(t *testing.T) {
	for spec, want := range map[string]map[cluster.GPUType]int{
		"hetero64": nil, "v100:4x8,t4:4x8/rent": nil,
		"v100:4x8,t4:4x8/loan@3":             {"t4": 3},
		"v100:4x8, t4:4x8/96c/1000g/loan@3 ": {"t4": 3},
		"v100:4x8,t4:4x8/loan":               {},
	} {
		c := Default()
		c.Cluster = spec
		if diff := cmp.Diff(want, c.Equivalents()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}
