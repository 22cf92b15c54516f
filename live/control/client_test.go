package control_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/control"
)

// ask asks one thing of whatever listens at a path.
func ask(t *testing.T, path string) error {
	_, err := control.NewClient(path).Status(t.Context(), false)
	return err
}

func TestClient_without_scheduler(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := ask(t, filepath.Join(home, "state", "control.sock")); !errors.Is(err, control.ErrAbsent) || err.Error() != "no scheduler listens on ~/state/control.sock" {
		t.Errorf("no socket: got %v", err)
	}
	path := filepath.Join(home, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if err := ask(t, path); !errors.Is(err, control.ErrAbsent) || err.Error() != "no scheduler listens on ~/s" {
		t.Errorf("nobody at the socket: got %v", err)
	}
}

// against returns what a client says of a server that answers so.
func against(t *testing.T, answer http.HandlerFunc) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: answer}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	return ask(t, path)
}

func TestClient_what_is_no_answer(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		absent bool
		want   string
	}{
		{"ends at once", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, "it ended before it answered"},
		{"ends within", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"machine":`)
		}, true, "it ended before it answered"},
		{"another program", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hello", http.StatusTeapot) }, false, "answered 418 I'm a teapot"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, false, "invalid character 'h'"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := against(t, test.answer)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, control.ErrAbsent) != test.absent {
				t.Errorf("got %v, want %q, absent %t", err, test.want, test.absent)
			}
		})
	}
}

func TestClient_too_large(t *testing.T) {
	p := serve(t, nil)
	r := request("a")
	r.Env = []string{"A=" + strings.Repeat("x", 1<<20)}
	_, err := p.Client.Submit(t.Context(), r)
	if e, ok := errors.AsType[*control.Error](err); !ok || e.Status != http.StatusRequestEntityTooLarge || e.Hint == "" {
		t.Errorf("got %v, want that it is too large, and a hint", err)
	}
}

func TestShort(t *testing.T) {
	for _, test := range []struct{ home, path, want string }{
		{"/home/me", "/home/me/a", "~/a"},
		{"/home/me", "/home/mean", "/home/mean"},
		{"/", "/a", "/a"},
		{"", "/a", "/a"},
	} {
		t.Setenv("HOME", test.home)
		if got := control.Short(test.path); got != test.want {
			t.Errorf("%s of %q: got %s, want %s", test.path, test.home, got, test.want)
		}
	}
}
