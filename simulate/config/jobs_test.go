package config

import (
	"strings"
	"testing"
)

func TestJobsValidate(t *testing.T) {
	for key, bad := range map[string][]string{
		"jobs.fungible": {"-0.5", "1.1", "-2"}, "jobs.checkpoints": {"-0.5", "1.1"}, "jobs.elastic": {"-1", "2"},
		"jobs.scaling-loss": {"-0.1", "1.1"}, "jobs.wrong-times": {"-1", "1.5"}, "jobs.wrong-by": {"-0.1", "1"},
		"jobs.heterogeneous": {"-0.5", "1.1"}, "jobs.mixed-speed": {"0", "1.1", "-1"},
	} {
		for _, value := range bad {
			c := Default()
			if err := c.Set(key, value, "test"); err != nil {
				t.Fatal(err)
			}
			name := strings.TrimPrefix(key, "jobs.")
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "jobs: "+name+" "+value+", want") {
				t.Errorf("%s=%s: got error %v, want one that says so", key, value, err)
			}
		}
	}
	c := Default()
	for _, kv := range [][2]string{{"jobs.fungible", "-1"}, {"jobs.checkpoints", "1"}, {"jobs.elastic", "1"}, {"jobs.wrong-by", "0"}, {"jobs.scaling-loss", "1"}, {"jobs.heterogeneous", "-1"}, {"jobs.mixed-speed", "1"}} {
		if err := c.Set(kv[0], kv[1], "test"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Validate(); err != nil {
		t.Errorf("the limits: %v", err)
	}
}
