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

// Quotas need a group: without one all jobs are one user's.
func TestOptions_quotas_of_a_group(t *testing.T) {
	o := DefaultOptions()
	o.Quotas = map[string]int{"*": 1}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "quotas need a group") {
		t.Errorf("got %v, want that quotas need a group", err)
	}
	if o.Group = "users"; o.Validate() != nil {
		t.Error(o.Validate())
	}
}
