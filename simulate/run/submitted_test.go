package run

import (
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
)

// A job that asks for more GPUs than there are, and runs on fewer, is served, or it is rejected
// before the run: under no policy does it wait for ever.
func TestNoPolicyIsStuckWithALargeJob(t *testing.T) {
	const line = `{"id":"a","application":"cifar10","gpus":16,"max_gpus":64,"batch_size":512,"adaptivity":["gpu_count","gpu_type","batch_size"]}`
	folder := fstest.MapFS{"t.jsonl": {Data: []byte(line)}}
	files := Files{Open: func(name string) (io.ReadCloser, error) { return folder.Open(name) }}
	cases := map[string]string{"pop of synergy": "pop.policy=synergy"}
	for _, name := range registry.Names() {
		cases[name] = ""
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			policy, _, _ := strings.Cut(name, " ")
			c.Cluster, c.Trace, c.Policies = "t4:1x4,rtx:1x8", "t.jsonl", []string{policy}
			if set != "" {
				c.Settings = []string{set}
			}
			_, rejected := Load(c, files)
			if rejected != nil && !strings.Contains(rejected.Error(), "job a: needs 16 GPUs of one eligible type, can get at most 8") {
				t.Fatal(rejected)
			}
			unchecked := *c
			unchecked.Policies = []string{"sia"}
			in, err := Load(&unchecked, files)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Simulate(t.Context(), c, in, policy)
			if err != nil && !strings.Contains(err.Error(), "stuck") {
				t.Fatal(err)
			}
			if (err != nil) != (rejected != nil) {
				t.Errorf("rejected: %v; if it were not: %v; want it rejected if it could never run, and only then", rejected, err)
			}
		})
	}
}
