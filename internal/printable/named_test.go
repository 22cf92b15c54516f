package printable

import "testing"

// The kind is not repeated before a name that begins with it.
func TestNamed(t *testing.T) {
	for name, want := range map[string]string{"bert": "job bert", "22": "job 22", "job-22": "job-22", "Job_3": "Job_3", "job7": "job7", "job": "job job", "jobless": "job jobless", "my-job": "job my-job", "": "job "} {
		if got := Named("job", name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
