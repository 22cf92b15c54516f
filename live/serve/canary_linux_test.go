package serve

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/cluster"
)

// canary is a text that a terminal obeys, and that begins a line of its own.
const canary = "=1+1\x1b[2J\u009b1A\u202e\r\nerror: all is lost"

// Whatever users put into a request, and programs into what they say, the scheduler's own log and its metrics have none of it
// as it is.
func TestCanary_in_log_and_metrics(t *testing.T) {
	read, write, err := os.Pipe() // what does not go through Options.Log
	if err != nil {
		t.Fatal(err)
	}
	was, complaints := os.Stderr, make(chan string, 1)
	os.Stderr = write
	go func() {
		text, err := io.ReadAll(read)
		if err != nil {
			t.Error(err)
		}
		complaints <- string(text)
	}()
	o := options(t)
	o.Metrics = "127.0.0.1:0"
	s := start(t, o)
	dir := filepath.Join(t.TempDir(), canary)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := s.request("job", "sh", "-c", "printf '%s' '"+canary+"'; exit 3", canary)
	r.Dir, r.Env = dir, append(r.Env, "X="+canary)
	id, err := s.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if v := s.ended(id); !strings.Contains(v.Detail, "\x1b[2J") {
		t.Fatalf("its detail has no canary: %q", v.Detail)
	}
	for _, change := range []func(*control.Request){
		func(r *control.Request) { r.Name = canary },
		func(r *control.Request) { r.Class = canary },
		func(r *control.Request) { r.GPUTypes = []cluster.GPUType{canary} },
		func(r *control.Request) { r.Dir = "/" + canary },
		func(r *control.Request) { r.Command = []string{canary} },
	} {
		r := s.request("job", "true")
		change(r)
		if _, err := s.Submit(t.Context(), r); err == nil {
			t.Errorf("%+v: accepted", r)
		}
	}
	metrics := s.metrics()
	s.clear()
	os.Stderr = was
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	s.said.mu.Lock()
	defer s.said.mu.Unlock()
	said := s.said.text.String()
	if !strings.Contains(said, "[2J") {
		t.Errorf("the log does not show what was put in:\n%s", said)
	}
	for what, text := range map[string]string{"log": said, "stderr": <-complaints, "metrics": metrics} {
		for line := range strings.Lines(text) {
			if strings.ContainsAny(line, "\x1b\u009b\r\u202e") || strings.HasPrefix(line, "error: all is lost") {
				t.Errorf("%s: a terminal obeys %q", what, line)
			}
		}
	}
}
