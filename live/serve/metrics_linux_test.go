package serve

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// metrics returns what a scheduler that was started with --metrics says.
func (s *served) metrics() string {
	s.t.Helper()
	s.said.mu.Lock()
	url := regexp.MustCompile(`http://\S+/metrics`).FindString(s.said.text.String())
	s.said.mu.Unlock()
	r, err := http.Get(url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// TestRun_metrics: a job's way shows in them.
func TestRun_metrics(t *testing.T) {
	o := options(t)
	o.Metrics = "127.0.0.1:0"
	s := start(t, o)
	id := s.submit("brief", "true")
	s.ended(id)
	for _, line := range []string{
		`oxgang_jobs_ended_total{outcome="done",queue="default"} 1`,
		`oxgang_decisions_total{action="started",queue="default"} 1`,
		`oxgang_plans_refused_total{queue="default"} 0`,
		`oxgang_fallback_active{queue="default"} 0`,
	} {
		await(t, line, func() bool { return strings.Contains(s.metrics(), line+"\n") })
	}
	await(t, "four free slots", func() bool {
		return regexp.MustCompile(`oxgang_gpus\{gpu_type="[^"]+",queue="default",state="free"\} 4\n`).MatchString(s.metrics())
	})
}

func TestRun_no_metrics_unless_asked(t *testing.T) {
	s := start(t, options(t))
	s.said.mu.Lock()
	defer s.said.mu.Unlock()
	if strings.Contains(s.said.text.String(), "metrics") {
		t.Errorf("said %s, want nothing of metrics", s.said.text.String())
	}
}
