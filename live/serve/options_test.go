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
