package client

import (
	"strings"
	"testing"
)

// Slurm 22.05 prints the nice value -3 as the unsigned number that has its bits.
func TestParseJobs_negative_nice(t *testing.T) {
	text := `{"meta": {"plugin": {"type": "openapi/v0.0.37", "name": "x"}}, "jobs": [{"job_id": 1, "job_state": "PENDING", "nice": NICE}]}`
	for nice, want := range map[string]int{"4294967293": -3, "-3": -3, "5": 5, "0": 0} {
		jobs, err := ParseJobs([]byte(strings.Replace(text, "NICE", nice, 1)))
		if err != nil || len(jobs) != 1 || jobs[0].Nice != want {
			t.Errorf("nice %s: got %+v, %v, want %d", nice, jobs, err, want)
		}
	}
}
