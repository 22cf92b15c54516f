package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/control/controltest"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// canary is a text that a terminal, or a spreadsheet, obeys, and that begins a line of its own.
const canary = "=1+1\x1b[2J\u009b1A\u202e\r\nerror: all is lost"

// fill puts the canary into all texts of a value, whatever its type, and something into all that may
// be empty, and returns how many texts there are.
func fill(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		v.SetString(canary)
		return 1
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return 0
		}
		for _, f := range v.Fields() {
			n += fill(f)
		}
	default:
		panic("fill knows no fields of kind " + v.Kind().String())
	}
	return n
}

// obeyed returns what of a text a terminal or a spreadsheet would obey; empty: nothing.
func obeyed(text, format string) string {
	for line := range strings.Lines(text) {
		switch {
		case strings.ContainsAny(line, "\x1b\u009b\r\u202e"):
			return line
		case format != "text" && strings.HasPrefix(line, "error: all is lost"): // an explanation has several lines
			return line
		case format == "csv" && (strings.HasPrefix(line, "=") || strings.Contains(line, ",=") || strings.Contains(line, `,"=`)):
			return line
		}
	}
	return ""
}

// canaryMachine serves a machine of which all that is said is the canary.
func canaryMachine(t *testing.T) (dir string, id job.ID) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	m := controltest.New(t.TempDir(), time.Unix(1, 0))
	id, err := m.Submit(t.Context(), &control.Request{Name: "a", GPUs: control.Range{Min: 1, Max: 1}})
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	m.Change(id, func(v *status.Job) {
		texts += fill(reflect.ValueOf(v).Elem())
		v.ID, v.Finished, v.Outcome = id, time.Time{}, ""
	})
	m.ChangeStatus(func(s *status.Status) {
		texts += fill(reflect.ValueOf(s).Elem())
		s.Jobs, s.Ended, s.Backend = nil, nil, status.Machine
	})
	story, err := json.Marshal(map[string]string{"job": canary})
	if err != nil || texts < 15 {
		t.Fatalf("%d texts, want more; %v", texts, err)
	}
	m.SetExplanation(id, &control.Explanation{Text: canary, Story: story})
	l, err := control.Listen(filepath.Join(dir, "control.sock"), control.Private())
	if err != nil {
		t.Fatal(err)
	}
	s, done := control.New(m), make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return dir, id
}

// Whatever texts users, programs and files have put into whatever field, no command shows one as it is.
func TestCanary_in_every_text(t *testing.T) {
	dir, id := canaryMachine(t)
	for name, command := range map[string]func() *cobra.Command{"jobs": JobsCommand, "top": TopCommand, "explain job": ExplainJobCommand} {
		for _, format := range []string{"table", "text", "json", "yaml", "csv"} {
			cmd, args := command(), []string{"--state", dir, "-o", format}
			if name == "explain job" {
				args = append(args, string(id))
			}
			var out, complaints bytes.Buffer
			cmd.SetArgs(args)
			cmd.SetOut(&out)
			cmd.SetErr(&complaints)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				if strings.Contains(err.Error(), "-o "+format) || strings.Contains(err.Error(), format) {
					continue // it has other formats
				}
				t.Fatalf("%s -o %s: %v", name, format, err)
			}
			if !strings.Contains(out.String(), "[2J") {
				t.Errorf("%s -o %s does not show what was put in:\n%s", name, format, &out)
			}
			if bad := obeyed(out.String()+complaints.String(), format); bad != "" {
				t.Errorf("%s -o %s: a terminal obeys %q", name, format, bad)
			}
		}
	}
}

// Nor does the page, whose texts a browser shows as they are once it has read the JSON.
func TestCanary_on_the_page(t *testing.T) {
	dir, id := canaryMachine(t)
	p, err := page.Listen(page.NewMachine(control.NewClient(filepath.Join(dir, "control.sock")), filepath.Join(dir, "journal")), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- p.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	get := func(path string) string {
		r, err := browser.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	get(p.URL())
	root, _, _ := strings.Cut(p.URL(), "/?")
	var texts func(v any) string
	texts = func(v any) (all string) {
		switch v := v.(type) {
		case string:
			return v + "\n"
		case []any:
			for _, x := range v {
				all += texts(x)
			}
		case map[string]any:
			for k, x := range v {
				all += k + "\n" + texts(x)
			}
		}
		return all
	}
	for path, shows := range map[string]bool{"/api/overview": true, "/api/job?id=" + string(id): false, "/api/job?id=" + url.QueryEscape(canary): false, "/api/series": false, "/": false} {
		text := get(root + path)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			text += texts(v)
		}
		if shows && !strings.Contains(text, "[2J") {
			t.Errorf("%s does not show what was put in:\n%s", path, text)
		}
		if bad := obeyed(text, "text"); bad != "" {
			t.Errorf("%s: somebody obeys %q", path, bad)
		}
	}
}

// The check of TestCanary_in_every_text sees what it is for.
func TestObeyed(t *testing.T) {
	for text, want := range map[string]bool{"plain": false, "a\x1b[2J": true, "a\nerror: all is lost": true, "a,=1+1": true, "a,'=1+1": false} {
		if got := obeyed(text, "csv") != ""; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
