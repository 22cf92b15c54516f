package serve

import (
	"strings"
	"testing"
)

func TestOptions_listen_on_loopback(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:0": "", "[::1]:8080": "", "0.0.0.0:0": "loopback", ":8080": "loopback", "10.1.2.3:80": "loopback", "127.0.0.1": "loopback", "box:80": "loopback",
	} {
		o := DefaultOptions()
		o.Listen = listen
		if err := o.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", listen, err, want)
		}
	}
}

func TestOptions_metrics_on_loopback(t *testing.T) {
	for metrics, want := range map[string]string{
		"": "", "127.0.0.1:9464": "", "[::1]:0": "", "0.0.0.0:9464": "loopback", ":9464": "loopback", "localhost:9464": "loopback", "127.0.0.1": "loopback",
	} {
		o := DefaultOptions()
		o.Metrics = metrics
		if err := o.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", metrics, err, want)
		}
	}
}

// Who starts a scheduler is told whose all jobs are.
func TestWhose(t *testing.T) {
	if got := whose(0); got != "root" {
		t.Errorf("uid 0 is %q", got)
	}
	if got := whose(4294967289); got != "uid 4294967289" {
		t.Errorf("a uid without a name is %q", got)
	}
}
