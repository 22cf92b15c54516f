package local

import (
	"strings"
	"testing"
	"time"
)

// The defaults are those of the guide, and each wrong option is an error that names it.
func TestOptions(t *testing.T) {
	want := Options{Grace: time.Minute, Report: 30 * time.Second, Quiet: time.Minute, Silence: 5 * time.Minute, LogBytes: 16 << 20, LogFiles: 4}
	if got := DefaultOptions(); got.Grace != want.Grace || got.Report != want.Report || got.Quiet != want.Quiet || got.Silence != want.Silence || got.LogBytes != want.LogBytes || got.LogFiles != want.LogFiles {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for text, spoil := range map[string]func(*Options){
		"":                     func(*Options) {},
		"state directory":      func(o *Options) { o.Dir = "" },
		"set both":             func(o *Options) { o.Supervisor = nil },
		"no slots":             func(o *Options) { o.Machine.Slots = nil },
		"grace 0s":             func(o *Options) { o.Grace = 0 },
		"report interval -1ns": func(o *Options) { o.Report = -1 },
		"quiet 0s":             func(o *Options) { o.Quiet = 0 },
		"silence 0s":           func(o *Options) { o.Silence = 0 },
		"logs of 1023 bytes":   func(o *Options) { o.LogBytes = 1023 },
		"in 0 files":           func(o *Options) { o.LogFiles = 0 },
	} {
		o := options(t, 1)
		o.LogBytes, o.LogFiles = 1<<10, 1
		spoil(&o)
		if err := o.Validate(); (err == nil) != (text == "") || err != nil && (!strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("got %v, want one error: %q", err, text)
		}
	}
}
