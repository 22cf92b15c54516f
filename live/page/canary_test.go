package page

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
)

// canary is a text that a terminal obeys, a browser shows in another direction, and that begins a line of its own.
const canary = "=1+1\x1b[2J\u009b1A\u202e\r\nerror: all is lost"

// A hostile source says the canary.
type hostile struct{ toy }

func (*hostile) Job(context.Context, job.ID, time.Duration) (*Job, error) {
	return &Job{Life: &explain.Story{Job: canary, Changes: []explain.Change{{Text: canary}}}}, nil
}

func (*hostile) Log(_ context.Context, _ job.ID, w io.Writer) error {
	_, err := io.WriteString(w, canary)
	return err
}

// What jobs and users say reaches the page printable: in the JSON, in what a browser reads from it, and in the log.
func TestCanary(t *testing.T) {
	s, h := served(t, new(hostile))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	for path, want := range map[string]string{
		s.URL():                 "",
		h.URL + "/api/job?id=x": `"text":"=1+1\\u001b[2J\\u009b1A\\u202e\\u000d\nerror: all is lost"`,
		h.URL + "/api/log?id=x": `=1+1\u001b[2J\u009b1A\u202e\u000d` + "\nerror: all is lost",
	} {
		if _, err := browser.Get(s.URL()); err != nil { // for the cookie
			t.Fatal(err)
		}
		r, err := browser.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if strings.ContainsAny(string(text), "\x1b\u009b\r\u202e") || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, want %q in it", path, text, want)
		}
	}
}
